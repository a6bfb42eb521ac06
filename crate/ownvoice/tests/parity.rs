//! Compares the model with PyTorch: values, the gradients of every parameter and input, and ten updates, within 1e-4.
//!
//! `tests/parity/generate.py` makes the fixtures and documents them; these tests do not need PyTorch. With `--nocapture` each test prints its largest
//! deviation.

mod fixture;

use burn::prelude::*;
use burn_fused::{
    Mode,
    adam::{Adam, AdamConfig},
    ranks::Shard,
    upsample::frame_positions,
};
use fixture::Fixture;
use ownvoice::model::{
    StopReason, Tacotron,
    attention::AttentionDecoder,
    batch::{Batch, Clips, Counts},
    encoder::Encoder,
    loss::losses,
    postnet::Postnet,
    tacotron::Symbols,
    teacher_forcing::{TeacherForcing, TeacherForcingInput, Timing},
};

/// Returns symbols of given lengths; `ids` may have any padding.
fn symbols(ids: Tensor<2, Int>, lengths: Vec<usize>) -> Symbols {
    let [_, width] = ids.dims();
    let rows: Vec<Vec<u8>> = lengths.iter().map(|&length| vec![1; length]).collect();
    let rows: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
    Symbols { ids: ids.clone(), ..Symbols::new(&rows, Some(width), &ids.device()) }
}

/// The modes in the order in which they must run, because a pass in training mode changes the running statistics.
const MODES: [(&str, Mode); 2] = [("steady", Mode::Eval), ("train", Mode::Train)];

#[test]
fn encoder() {
    let fixture = Fixture::load("encoder");
    let encoder = fixture.weighted(Encoder::new(&fixture.config(), &fixture.device));
    let symbols = symbols(fixture.integers("symbols"), fixture.lengths());
    let mask = symbols.mask.clone().unsqueeze_dim::<3>(2);
    for (run, mode) in MODES {
        let encoded =
            encoder.forward(symbols.ids.clone(), mask.clone(), &symbols.lengths, mode) * mask.clone();
        let gradients = fixture.probed("probe", encoded.clone()).backward();
        fixture.compare(format!("{run}/values/encoded"), encoded);
        fixture.compare_gradients(run, &encoder, &gradients);
    }
    fixture.compare_after("train", &encoder);
    fixture.finish();
}

#[test]
fn postnet() {
    let fixture = Fixture::load("postnet");
    let postnet = fixture.weighted(Postnet::new(&fixture.config(), &fixture.device));
    for (run, mode) in MODES {
        let frames = fixture.input::<3>("frames").require_grad();
        let residual = postnet.forward(frames.clone(), mode);
        let gradients = fixture.probed("probe", residual.clone()).backward();
        fixture.compare(format!("{run}/values/residual"), residual);
        fixture.compare_gradients(run, &postnet, &gradients);
        fixture.compare_input(run, "frames", &frames, &gradients);
    }
    fixture.compare_after("train", &postnet);
    fixture.finish();
}

/// Compares duration predictor, range predictor, Gaussian upsampling and decoder.
#[test]
fn durations() {
    let fixture = Fixture::load("durations");
    let model = fixture.weighted(Tacotron::new(&fixture.config(), &fixture.device));
    let symbols = symbols(Tensor::zeros([2, 5], &fixture.device), fixture.lengths());
    let encoded = fixture.input::<3>("encoded").require_grad();
    let speaker = fixture.input::<2>("speaker").require_grad();
    let timing = Timing {
        durations: fixture.input::<2>("durations").require_grad(),
        times: fixture.input::<2>("times").require_grad(),
        positions: fixture.input::<3>("positions").require_grad(),
    };
    let Timing { durations, times, positions } = timing.clone();
    let log_durations =
        model.durations.forward(encoded.clone(), speaker.clone(), &symbols.lengths) * symbols.mask.clone();
    let ranges =
        model.ranges.forward(encoded.clone(), durations.clone(), &symbols.lengths) * symbols.mask.clone();
    let context =
        model.upsample(&symbols, encoded.clone(), durations.clone(), times.clone(), positions.clone());
    let input = TeacherForcingInput {
        symbols: &symbols,
        encoded: encoded.clone(),
        speaker: speaker.clone(),
        previous: None,
    };
    let decoded = model.teacher_force(input, timing);
    let sum = fixture.probed("probe/log_durations", log_durations.clone())
        + fixture.probed("probe/alignment", decoded.alignment.clone())
        + fixture.probed("probe/frames", decoded.frames.clone());
    let gradients = sum.backward();
    fixture.compare("forced/values/log_durations".into(), log_durations);
    fixture.compare("forced/values/ranges".into(), ranges);
    fixture.compare("forced/values/alignment".into(), decoded.alignment);
    fixture.compare("forced/values/context".into(), context);
    fixture.compare("forced/values/frames".into(), decoded.frames);
    fixture.compare_gradients("forced", &model, &gradients);
    fixture.compare_input("forced", "encoded", &encoded, &gradients);
    fixture.compare_input("forced", "speaker", &speaker, &gradients);
    fixture.compare_input("forced", "durations", &durations, &gradients);
    fixture.compare_input("forced", "times", &times, &gradients);
    fixture.compare_input("forced", "positions", &positions, &gradients);
    fixture.finish();
}

#[test]
fn attention() {
    let fixture = Fixture::load("attention");
    let decoder = fixture.weighted(AttentionDecoder::new(&fixture.config(), &fixture.device));
    let lengths = fixture.lengths();
    let symbols = symbols(Tensor::zeros([2, 5], &fixture.device), lengths);
    let encoded = fixture.input::<3>("encoded").require_grad();
    let speaker = fixture.input::<2>("speaker").require_grad();
    let previous = fixture.input::<3>("previous").require_grad();
    let input = TeacherForcingInput {
        symbols: &symbols,
        encoded: encoded.clone(),
        speaker: speaker.clone(),
        previous: Some(previous.clone()),
    };
    let decoded = decoder.teacher_force(input, ());
    let gate = decoded.gate.expect("attention has a gate");
    let sum = fixture.probed("probe/frames", decoded.frames.clone())
        + fixture.probed("probe/gate", gate.clone())
        + fixture.probed("probe/alignment", decoded.alignment.clone());
    let gradients = sum.backward();
    fixture.compare("forced/values/frames".into(), decoded.frames);
    fixture.compare("forced/values/gate".into(), gate);
    fixture.compare("forced/values/alignment".into(), decoded.alignment);
    fixture.compare_gradients("forced", &decoder, &gradients);
    fixture.compare_input("forced", "encoded", &encoded, &gradients);
    fixture.compare_input("forced", "speaker", &speaker, &gradients);
    fixture.compare_input("forced", "previous", &previous, &gradients);

    // Free running: the first item is generated from its own frames until the gate opens.
    let alone = self::symbols(Tensor::zeros([1, 5], &fixture.device), vec![5]);
    let memory = decoder.memory(&alone, encoded.narrow(0, 0, 1), speaker.narrow(0, 0, 1));
    let free = pollster::block_on(decoder.generate(&memory, 40, |_| true));
    assert_eq!(free.stop, StopReason::Gate);
    fixture.compare("free/values/frames".into(), free.frames);
    fixture.compare("free/values/alignment".into(), free.alignment);
    fixture.finish();
}

/// Compares the lip-to-speech model.
#[test]
fn lips() {
    use ownvoice::{
        lips::{LipConfig, LipTacotron, encoder::pictures},
        model::AttendedEncoder,
    };

    let fixture = Fixture::load("lips");
    let sizes = &fixture.about["lips"];
    let size = |name: &str| sizes[name].as_u64().unwrap() as usize;
    let config = LipConfig {
        side: size("side"),
        channels: serde_json::from_value(sizes["channels"].clone()).unwrap(),
        residuals: size("residuals"),
        first_stride: 2,
        first_kernel: size("first_kernel"),
        last_stride: size("last_stride"),
        tacotron: fixture.config(),
    };
    let model = fixture.weighted(LipTacotron::new(&config, &fixture.device));
    let pictures = pictures(&fixture.lengths(), None, &fixture.device);
    let mask = pictures.mask.clone().unsqueeze_dim::<3>(2);
    for (run, mode) in MODES {
        let faces = fixture.input::<5>("faces").require_grad();
        let speaker = fixture.input::<2>("speaker").require_grad();
        let previous = fixture.input::<3>("previous").require_grad();
        let encoded = model.encoder.encode(faces.clone(), &pictures, mode) * mask.clone();
        let input = TeacherForcingInput {
            symbols: &pictures,
            encoded: encoded.clone(),
            speaker: speaker.clone(),
            previous: Some(previous.clone()),
        };
        let decoded = model.decoder.teacher_force(input, ());
        let gate = decoded.gate.expect("attention has a gate");
        let sum = fixture.probed("probe/encoded", encoded.clone())
            + fixture.probed("probe/frames", decoded.frames.clone())
            + fixture.probed("probe/gate", gate.clone())
            + fixture.probed("probe/alignment", decoded.alignment.clone());
        let gradients = sum.backward();
        fixture.compare(format!("{run}/values/encoded"), encoded);
        fixture.compare(format!("{run}/values/frames"), decoded.frames);
        fixture.compare(format!("{run}/values/gate"), gate);
        fixture.compare(format!("{run}/values/alignment"), decoded.alignment);
        fixture.compare_gradients(run, &model, &gradients);
        fixture.compare_input(run, "faces", &faces, &gradients);
        fixture.compare_input(run, "speaker", &speaker, &gradients);
        fixture.compare_input(run, "previous", &previous, &gradients);
    }
    fixture.compare_after("train", &model);
    fixture.finish();
}

/// Compares the whole model of the duration path: losses and gradients of the first update, and losses and weights of ten updates.
#[test]
fn ten_updates() {
    let fixture = Fixture::load("tacotron");
    let config = fixture.config();
    let mut model = fixture.weighted(Tacotron::new(&config, &fixture.device));
    let mask = fixture.input::<2>("mask").unsqueeze_dim::<3>(2);
    let batch = Batch {
        symbols: symbols(fixture.integers("symbols"), fixture.lengths()),
        speakers: fixture.integers::<1>("speakers").one_hot::<2>(config.speakers).float(),
        durations: fixture.input("durations"),
        times: fixture.input("times"),
        positions: fixture.input("positions"),
        pitch: None,
        targets: fixture.input("targets"),
        // The duration path's losses need these counts alone.
        whole: Counts {
            items: fixture.lengths().len(),
            symbols: fixture.lengths().iter().sum(),
            frames: mask.clone().sum().into_scalar::<f32>() as usize,
            ..Counts::default()
        },
        clips: Clips { whole: Vec::new(), shard: Shard::WHOLE },
        mask,
    };
    let adam = &fixture.about["adam"];
    let number = |key: &str| adam[key].as_f64().unwrap() as f32;
    let rate = adam["rate"].as_f64().unwrap();
    let mut adam = Adam::new(AdamConfig {
        beta_1: number("beta_1"),
        beta_2: number("beta_2"),
        epsilon: number("epsilon"),
        weight_decay: number("weight_decay"),
        clip_norm: number("clip_norm"),
        ..AdamConfig::default()
    });
    let mut totals = Vec::new();
    for update in 0..10 {
        let losses = losses(&model, &batch, Mode::Train);
        let gradients = losses.total().backward();
        if update == 0 {
            fixture.compare("first/values/before".into(), losses.before.clone());
            fixture.compare("first/values/after".into(), losses.after.clone());
            fixture.compare("first/values/durations".into(), losses.durations.clone());
            fixture.compare_gradients("first", &model, &gradients);
        }
        totals.push(losses.total().into_scalar::<f32>());
        model = adam.step(model, &gradients, |_| rate);
    }
    fixture.compare_values("ten/values/totals".into(), &[10], &totals);
    fixture.compare_after("ten", &model);
    fixture.finish();
}

/// Compares the positions of frames in their symbols with an independent computation of the reference.
#[test]
fn positions() {
    let fixture = Fixture::load("tacotron");
    let durations: Vec<Vec<u32>> = serde_json::from_value(fixture.about["frames"].clone()).unwrap();
    let firsts: Vec<usize> = serde_json::from_value(fixture.about["firsts"].clone()).unwrap();
    let (shape, expected) = &fixture.tensors["inputs/positions"];
    let positions = durations
        .iter()
        .zip(firsts)
        .flat_map(|(durations, first)| frame_positions(durations, first, shape[1]));
    let worst = positions
        .flatten()
        .zip(expected)
        .map(|(value, expected)| (value - expected).abs())
        .fold(0.0f32, f32::max);
    assert!(worst < 1e-6, "{worst:e}");
}

#[test]
fn the_error_names_the_deviating_tensor() {
    let mut fixture = Fixture::load("postnet");
    let names: Vec<String> = fixture
        .tensors
        .keys()
        .filter(|name| name.contains("values") || name.contains("gradients"))
        .cloned()
        .collect();
    fixture.tensors.retain(|name, _| names.contains(name));
    for name in &names {
        let (shape, mut values) = fixture.tensors[name].clone();
        if name == "train/values/residual" {
            values[3] += 2e-4;
        }
        fixture.compare_values(name.clone(), &shape, &values);
    }
    let error = fixture.verdict().unwrap_err();
    assert!(error.contains("train/values/residual, off by 2.00e-4") && !error.contains("steady"), "{error}");
    fixture.seen.take();
    assert!(fixture.verdict().unwrap_err().contains("not compared"));
}
