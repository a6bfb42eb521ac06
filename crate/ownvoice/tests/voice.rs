//! From recordings to a voice and its speech, on a tiny base: the state machine, the files, and what happens to bad input.
//!
//! One long file: its tests share one tiny base.

use burn::module::Param;
use burn_fused::{
    Precision,
    precision::Culprit,
    ranks::shard::Shard,
    weights::{HostWeights, Storage, deserialize, serialize},
};
use ownvoice::{
    audio::{Audio, mel::Mel},
    clone::{
        FineTuner, Step, TuneStop,
        alignment_snapshot::AlignmentSnapshot,
        anchors::anchors,
        clip::{AlignedClip, Clip, align_clips, check_clip, spoken_throughout},
        helper::Helper,
        options::{CloneOptions, StopRule, ValidationMetrics},
    },
    synth::{SpeakOptions, Speech, parts, speak_async},
    text::symbols::{self, Symbol, by_frame},
    vocoder::GriffinLim,
    voice::{
        Base, Consent, Voice,
        spectral_transport::{SpectralStats, SpectralTransport},
    },
};
use ownvoice_testing::{held_out_clips, load, on_device, other_base, shipped_base, tiny_base, tiny_files};
use pollster::block_on;

fn options(iterations: usize) -> CloneOptions {
    CloneOptions { iterations, batch: 4, window: 64, rate: 2e-3, ..CloneOptions::default() }
}

fn run(base: &Base, clips: &[Clip], iterations: usize) -> (Voice, Vec<Step>) {
    run_with(base, clips, options(iterations))
}

fn run_with(base: &Base, clips: &[Clip], options: CloneOptions) -> (Voice, Vec<Step>) {
    let mut tuner = block_on(FineTuner::start_async(base, clips, options)).unwrap();
    let mut steps = Vec::new();
    loop {
        steps.push(block_on(tuner.step_async()).unwrap());
        if steps.last().unwrap().stop.is_some() {
            return (block_on(tuner.finish_async()).unwrap(), steps);
        }
    }
}

fn say(base: &Base, voice: &Voice, text: &str, options: &SpeakOptions) -> ownvoice::Result<Speech> {
    let mut vocoder = GriffinLim::new(base.mel_config().clone());
    vocoder.iterations = 2;
    block_on(speak_async(base, voice, text, options, &vocoder, async |_, _| true))
}

#[test]
fn the_loss_falls_and_the_iterations_end() {
    let base = tiny_base();
    let (voice, steps) =
        run_with(&base, &held_out_clips(3), CloneOptions { stop_rule: StopRule::Fixed, ..options(200) });
    assert_eq!(steps.len(), 200);
    assert_eq!(steps[199].stop, Some(TuneStop::Iterations));
    let mean = |steps: &[Step]| steps.iter().map(|step| step.loss).sum::<f32>() / steps.len() as f32;
    let (first, last) = (mean(&steps[..20]), mean(&steps[180..]));
    assert!(last < 0.9 * first, "{first} to {last}");
    assert!(voice.info().adapted && voice.info().seconds > 15.0, "{:?}", voice.info());
}

fn weights(tuner: &FineTuner) -> Vec<f32> {
    let mut weights = vec![0.0; tuner.flat_buffer_len()];
    block_on(tuner.put_weights_async(std::slice::from_mut(&mut weights))).unwrap();
    weights
}

/// Helpers take their shares of each iteration, and what is learned is the same; so it is when one fails in the middle, and in the cooldown.
#[test]
fn iterations_that_are_shared_learn_the_same() {
    let (base, clips) = (tiny_base(), held_out_clips(6));
    let start = || {
        block_on(FineTuner::start_async(&base, &clips, CloneOptions { rehearsal: 0.3, ..options(29) }))
            .unwrap()
    };
    let (mut alone, mut shared) = (start(), start());
    let worker_init = block_on(shared.worker_init_async(&base)).unwrap();
    let mut helpers = [0, 1].map(|_| Helper::open(&worker_init, &base.device).unwrap());
    for iteration in 0..6 {
        let weights = weights(&shared);
        let in_cooldown = shared.in_cooldown();
        assert_eq!(in_cooldown, iteration >= 4);
        let mut help = |number: usize| {
            let shard = Shard { rank: number + 1, world_size: 3 };
            let mut buffer = weights.clone();
            block_on(helpers[number].gradients_async(iteration, in_cooldown, &mut buffer, shard)).unwrap();
            buffer
        };
        let helped = if iteration == 3 { None } else { Some(vec![help(0), help(1)]) };
        let (expected, found) = (
            block_on(alone.step_async()).unwrap(),
            block_on(shared.step_with_async(2, async || helped)).unwrap(),
        );
        assert!(
            (expected.loss - found.loss).abs() < 1e-4,
            "iteration {iteration}: {} and {}",
            expected.loss,
            found.loss
        );
    }
    let [expected, found] = [&alone, &shared].map(weights);
    let worst = expected.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 1e-3, "weights differ by {worst}");
    let begun = weights(&start());
    assert!(expected.iter().zip(&begun).any(|(a, b)| (a - b).abs() > 5e-3), "nothing was learned");

    let mixed = CloneOptions { precision: Precision::Mixed, ..options(6) };
    let mixed = block_on(FineTuner::start_async(&base, &clips, mixed)).unwrap();
    assert_eq!(block_on(mixed.worker_init_async(&base)).unwrap_err().code(), "option-invalid");
    let code = |worker_init: &[u8]| Helper::open(worker_init, &base.device).map(|_| ()).unwrap_err().code();
    assert_eq!(code(b"nonsense"), "checkpoint-corrupt");
    assert!(
        block_on(helpers[0].gradients_async(0, false, &mut found[1..].to_vec(), Shard::WHOLE)).is_err(),
        "too few weights"
    );
}

/// What the clips lack is rehearsed: a sentence keeps the shape of its spectra as the base says it, in the same timing and melody.
#[test]
fn what_is_rehearsed_is_not_forgotten() {
    let (base, clips) = (tiny_base(), held_out_clips(3));
    let text = "The rabbit did not wait for a better offer.";
    let mel = |voice: &Voice| say(&base, voice, text, &SpeakOptions::default()).unwrap().mel;
    // Deviations of each band from its mean over time: the mean is the speaker's.
    let shape = |mel: Mel| {
        let count = mel.frames() as f32;
        let mean = |band: usize| mel.data.iter().skip(band).step_by(mel.mels).sum::<f32>() / count;
        let means: Vec<f32> = (0..mel.mels).map(mean).collect();
        mel.data.iter().enumerate().map(|(at, value)| value - means[at % mel.mels]).collect::<Vec<f32>>()
    };
    let forgotten = |rehearsal: f32| {
        // A decoder that learns fast, so that there is much to forget.
        let decoder_rate_multiplier = 1.0;
        let options =
            CloneOptions { rehearsal, decoder_rate_multiplier, stop_rule: StopRule::Fixed, ..options(100) };
        let (mut voice, _) = run_with(&base, &clips, options);
        let said = shape(mel(&voice));
        let speaker = voice.timing_speaker.clone();
        voice.parts = Voice::unadapted(&base).parts;
        voice.parts.speaker = Param::from_tensor(speaker);
        voice.spectral_transport = None;
        let before = shape(mel(&voice));
        said.iter().zip(&before).map(|(a, b)| (a - b).abs()).sum::<f32>() / before.len() as f32
    };
    let (with, without) = (forgotten(1.0), forgotten(0.0));
    assert!(with < 0.8 * without, "{with} with rehearsal, {without} without");
}

/// Half precision learns what single precision learns, on products that are rounded.
#[test]
fn mixed_precision_learns_as_well() {
    let base = tiny_base();
    let clips = held_out_clips(3);
    let learned = |precision| {
        let (voice, steps) =
            run_with(&base, &clips, CloneOptions { precision, stop_rule: StopRule::Fixed, ..options(200) });
        assert!(steps[199].overflows < 5, "{}", steps[199].overflows);
        let mean = |steps: &[Step]| steps.iter().map(|step| step.loss).sum::<f32>() / steps.len() as f32;
        (mean(&steps[160..]) / mean(&steps[5..25]), block_on(voice.save_async(&base)).unwrap())
    };
    let ((single, single_voice), (mixed, mixed_voice)) = (learned(Precision::F32), learned(Precision::Mixed));
    assert!(
        single < 0.9 && (mixed / single - 1.0).abs() < 0.1,
        "of the first losses {single} are left, and {mixed}"
    );
    assert_ne!(single_voice, mixed_voice);
}

#[test]
fn an_overflow_in_a_training_is_named_and_nothing_in_a_sound_one() {
    let (base, clips) = (tiny_base(), held_out_clips(3));
    let start = |fault: Option<&str>| {
        let faults = fault.iter().map(|fault| fault.parse().unwrap()).collect();
        let options = CloneOptions { precision: Precision::Mixed, faults, ..options(40) };
        block_on(FineTuner::start_async(&base, &clips, options)).unwrap()
    };
    let mut sound = start(None);
    for _ in 0..6 {
        let step = block_on(sound.step_async()).unwrap();
        assert_eq!((step.overflows, step.fault), (0, None));
    }
    assert_eq!(block_on(sound.fault_async()).unwrap(), None);

    // Forward: the loss is no number, and the error says where that began.
    let mut forward = start(Some("overflow:postnet.convolutions.1:convolution"));
    let error = block_on(forward.step_async()).unwrap_err();
    assert_eq!(error.code(), "training-diverged");
    let named = "postnet.convolutions.1: convolution overflows in half precision, and not in single";
    assert!(error.to_string().contains(named), "{error}");
    let (iteration, culprit) = block_on(forward.fault_async()).unwrap().unwrap();
    assert!(iteration == 1 && matches!(culprit, Culprit::Forward { overflows: true, .. }), "{culprit}");

    // Backward: updates are left out, and the first few are traced.
    let mut backward = start(Some("nan:decoder.second:lstm:w_hh"));
    let steps: Vec<Step> = (0..20).map(|_| block_on(backward.step_async()).unwrap()).collect();
    assert_eq!(steps[19].overflows, 20);
    let faults: Vec<&String> = steps.iter().filter_map(|step| step.fault.as_ref()).collect();
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert!(
        faults[0].starts_with(
            "iteration 1: decoder.second: the backward pass of lstm returns a non-finite gradient"
        ),
        "{faults:?}"
    );
}

#[test]
fn a_held_out_clip_says_which_weights_are_kept() {
    let base = tiny_base();
    let learn = |stop_rule| {
        let (voice, steps) = run_with(&base, &held_out_clips(6), CloneOptions { stop_rule, ..options(100) });
        let validations: Vec<ValidationMetrics> = steps.iter().filter_map(|step| step.validation).collect();
        assert_eq!(validations.len(), 3);
        let [before, after] = voice.info().held_out_loss.unwrap();
        assert!(before.is_finite() && before != after);
        let kept = *validations
            .iter()
            .find(|metrics| metrics.loss == after)
            .expect("one of those that were looked at");
        (validations, kept)
    };
    let (validations, kept) = learn(StopRule::Fixed);
    assert_eq!(kept, validations[2]);
    let (validations, kept) = learn(StopRule::Loss);
    assert_eq!(kept.loss, validations.iter().map(|metrics| metrics.loss).fold(f32::INFINITY, f32::min));
    let (validations, kept) = learn(StopRule::Voice);
    let better = |metrics: &&ValidationMetrics| {
        metrics.similarity > kept.similarity + 0.02 && metrics.phoneme_error_rate <= kept.phoneme_error_rate
    };
    assert_eq!(validations.iter().find(better), None, "much nearer and as clear as what was kept, {kept:?}");
}

/// Steps so large that voices worsen about as often as not: the cooldown starts from the best of them.
#[test]
fn the_cooldown_starts_from_the_best_parameters() {
    let (base, clips) = (tiny_base(), held_out_clips(6));
    let worsened = (1..=8).any(|seed| {
        let options = CloneOptions { stop_rule: StopRule::Loss, rate: 1.0, seed, ..options(100) };
        let mut tuner = block_on(FineTuner::start_async(&base, &clips, options)).unwrap();
        let mut best = (f32::INFINITY, Vec::new());
        let mut last = f32::INFINITY;
        while !tuner.in_cooldown() {
            let Some(metrics) = block_on(tuner.step_async()).unwrap().validation else { continue };
            last = metrics.loss;
            if last < best.0 {
                best = (last, weights(&tuner));
            }
        }
        assert!(best.1 == weights(&tuner), "seed {seed}");
        last > best.0
    });
    assert!(worsened, "nothing was to be gone back from");
}

#[test]
fn a_voice_that_no_longer_gains_cools_down_and_ends() {
    let base = tiny_base();
    let learn = |stop_rule| run_with(&base, &held_out_clips(6), CloneOptions { stop_rule, ..options(400) }).1;
    assert_eq!(learn(StopRule::Fixed).len(), 400);
    let steps = learn(StopRule::Voice);
    let (last, planned) = (
        steps.last().unwrap(),
        steps.iter().position(|step| step.iterations < 400).expect("it is decided before"),
    );
    assert_eq!(
        (last.stop, last.iteration, last.iterations),
        (Some(TuneStop::HeldOut), steps.len(), steps.len())
    );
    assert_eq!(planned + 1 + 25, steps.len(), "the rates fall over 25 iterations");
    assert!(
        steps[planned].validation.is_some() && planned >= 75 - 1,
        "two validations have gained nothing over the first, at least: {planned}"
    );
}

/// Where checkpoints are usually taken the state is rounded, with or without one: it is kept in half the bytes, and nothing is lost by it.
#[test]
fn a_checkpoint_at_a_validation_is_small_and_exact() {
    let base = tiny_base();
    let clips = held_out_clips(2);
    let whole = run(&base, &clips, 60).0;
    let mut tuner = block_on(FineTuner::start_async(&base, &clips, options(60))).unwrap();
    let mut checkpoints = Vec::new();
    for iteration in 1..=50 {
        block_on(tuner.step_async()).unwrap();
        if [24, 25, 50].contains(&iteration) {
            checkpoints.push(block_on(tuner.checkpoint_async(&base)).unwrap());
        }
    }
    // At the 24th there is no best yet: three tensors of four bytes a parameter, and then four of two.
    let [between, first, second] = checkpoints.try_into().unwrap();
    assert!(first.len() * 100 < between.len() * 72, "{} of {}", first.len(), between.len());
    for (checkpoint, iteration) in [(first, 25), (second, 50)] {
        let mut tuner = block_on(FineTuner::resume_async(&base, &clips, &checkpoint)).unwrap();
        assert_eq!(tuner.iteration(), iteration);
        while block_on(tuner.step_async()).unwrap().stop.is_none() {}
        let resumed = block_on(tuner.finish_async()).unwrap();
        assert_eq!(block_on(whole.save_async(&base)).unwrap(), block_on(resumed.save_async(&base)).unwrap());
    }
}

#[test]
fn the_same_seed_gives_the_same_voice_also_through_a_checkpoint() {
    let base = tiny_base();
    let clips = held_out_clips(2);
    let whole = run(&base, &clips, 12).0;
    let mut tuner = block_on(FineTuner::start_async(&base, &clips, options(12))).unwrap();
    for _ in 0..7 {
        block_on(tuner.step_async()).unwrap();
    }
    let checkpoint = block_on(tuner.checkpoint_async(&base)).unwrap();
    drop(tuner);
    let mut tuner = block_on(FineTuner::resume_async(&base, &clips, &checkpoint)).unwrap();
    assert_eq!(tuner.iteration(), 7);
    while block_on(tuner.step_async()).unwrap().stop.is_none() {}
    let resumed = block_on(tuner.finish_async()).unwrap();
    assert_eq!(block_on(whole.save_async(&base)).unwrap(), block_on(resumed.save_async(&base)).unwrap());
    for cut in [0, 8, checkpoint.len() / 2, checkpoint.len() - 1] {
        let error = block_on(FineTuner::resume_async(&base, &clips, &checkpoint[..cut])).err().unwrap();
        assert_eq!(error.code(), "checkpoint-corrupt");
    }
    // The optimizer's state is of the model's size, or the next iteration would fail.
    for prefix in ["adam.first.", "adam.second.", "adam.scaling"] {
        let (mut tensors, metadata) = deserialize(&checkpoint).unwrap();
        let name = tensors.keys().find(|name| name.starts_with(prefix)).unwrap().clone();
        tensors.insert(name, (vec![1], vec![0.5]));
        let hostile = block_on(serialize(on_device(tensors), Storage::Full, metadata)).unwrap();
        assert_eq!(
            block_on(FineTuner::resume_async(&base, &clips, &hostile)).err().unwrap().code(),
            "checkpoint-corrupt",
            "{prefix}"
        );
    }
}

/// 2^53 + 1 is no double: read as one it is another seed.
#[test]
fn a_seed_beyond_the_doubles_resumes_as_itself() {
    let (base, clips) = (tiny_base(), held_out_clips(2));
    let options = CloneOptions { seed: (1 << 53) + 1, ..options(6) };
    let whole = run_with(&base, &clips, options.clone()).0;
    let mut tuner = block_on(FineTuner::start_async(&base, &clips, options)).unwrap();
    for _ in 0..2 {
        block_on(tuner.step_async()).unwrap();
    }
    let checkpoint = block_on(tuner.checkpoint_async(&base)).unwrap();
    let mut tuner = block_on(FineTuner::resume_async(&base, &clips, &checkpoint)).unwrap();
    while block_on(tuner.step_async()).unwrap().stop.is_none() {}
    let resumed = block_on(tuner.finish_async()).unwrap();
    assert_eq!(block_on(whole.save_async(&base)).unwrap(), block_on(resumed.save_async(&base)).unwrap());
}

#[test]
fn a_voice_file_speaks_as_the_voice_it_was_saved_from() {
    let base = tiny_base();
    let (voice, _) = run(&base, &held_out_clips(2), 20);
    let bytes = block_on(voice.save_async(&base)).unwrap();
    let opened = Voice::open(&base, &bytes).unwrap();
    assert_eq!(opened.info().iterations, 20);
    let (before, after) = (
        say(&base, &voice, "Good morning.", &SpeakOptions::default()),
        say(&base, &opened, "Good morning.", &SpeakOptions::default()),
    );
    let (before, after) = (before.unwrap(), after.unwrap());
    assert_eq!(before.durations, after.durations);
    let unadapted = say(&base, &Voice::unadapted(&base), "Good morning.", &SpeakOptions::default()).unwrap();
    let fresh = tiny_base();
    let untouched =
        say(&fresh, &Voice::unadapted(&fresh), "Good morning.", &SpeakOptions::default()).unwrap();
    assert_eq!(unadapted.mel, untouched.mel, "opening a voice changed the base");
    let worst = before.mel.data.iter().zip(&after.mel.data).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 0.05, "what the file keeps costs {worst}");
}

#[test]
fn a_picture_nears_the_recording_and_lies_where_its_sounds_are() {
    let base = tiny_base();
    let mut tuner = block_on(FineTuner::start_async(
        &base,
        &held_out_clips(2),
        CloneOptions { window: 128, ..options(150) },
    ))
    .unwrap();
    let before = block_on(tuner.picture_async(&base)).unwrap();
    while block_on(tuner.step_async()).unwrap().stop.is_none() {}
    let after = block_on(tuner.picture_async(&base)).unwrap();
    assert_eq!((&before.recorded, &before.durations), (&after.recorded, &after.durations));
    let frames = after.recorded.frames();
    assert_eq!((after.predicted.frames(), after.durations.iter().sum::<u32>() as usize), (frames, frames));
    assert_eq!(after.alignment.len(), frames * after.symbols.len());
    let error = |picture: &AlignmentSnapshot| {
        picture.predicted.data.iter().zip(&picture.recorded.data).map(|(a, b)| (a - b).abs()).sum::<f32>()
            / picture.recorded.data.len() as f32
    };
    assert!(error(&after) < error(&before), "{} to {}", error(&before), error(&after));
    // The first sound is far away when the last is spoken.
    assert_eq!(after.alignment[(frames - 1) * after.symbols.len()], 0.0);
    assert!(
        after.alignment.iter().all(|heard| (0.0..=1.0).contains(heard))
            && after.alignment.iter().any(|heard| *heard > 0.1)
    );
}

#[test]
fn the_speakers_own_recordings_are_nearer_than_the_base_and_a_clone_lies_between() {
    let base = tiny_base();
    let clips = held_out_clips(8);
    let (voice, _) = run(&base, &clips, 100);
    let mut heard = Vec::new();
    let found = block_on(anchors(&base, &voice, &clips, async |done, of| {
        heard.push((done, of));
        true
    }))
    .unwrap();
    assert_eq!(heard, (0..8).map(|done| (done, 8)).collect::<Vec<_>>());
    assert!(
        found.base < found.clone && found.clone < found.same_speaker && found.same_speaker <= 1.0,
        "{found:?}"
    );
    let error = |clips: &[Clip], go_on| {
        block_on(anchors(&base, &voice, clips, async |_, _| go_on)).unwrap_err().code()
    };
    assert_eq!(error(&clips[..1], true), "option-invalid");
    assert_eq!(error(&clips, false), "cancelled");
}

#[test]
fn a_text_is_its_sentences_with_pauses_between() {
    let base = tiny_base();
    let voice = Voice::unadapted(&base);
    let text = "One is short. Two is not much longer. Is this three?";
    let whole = say(&base, &voice, text, &SpeakOptions::default()).unwrap();
    let mut joined = Vec::new();
    for part in parts(text, base.mel_config()).unwrap() {
        joined.extend(say(&base, &voice, &part.text, &SpeakOptions::default()).unwrap().samples);
        joined.extend(vec![0.0; (part.pause_seconds * whole.sample_rate_hz as f32).round() as usize]);
    }
    assert_eq!(whole.samples, joined);
}

#[test]
fn variance_scale_is_stored_in_the_voice_file_and_applied() {
    let base = tiny_base();
    let mut voice = Voice::unadapted(&base);
    let plain = say(&base, &voice, "Good morning.", &SpeakOptions::default()).unwrap().mel;
    voice.global_variance_scale = [1.2, 1.1, 1.3, 1.4];
    let bytes = block_on(voice.save_async(&base)).unwrap();
    let again = Voice::open(&base, &bytes).unwrap();
    assert_eq!(again.global_variance_scale, voice.global_variance_scale);
    let lively = say(&base, &again, "Good morning.", &SpeakOptions::default()).unwrap().mel;
    let swing = |mel: &Mel| {
        let loud: Vec<f32> = mel.data.iter().copied().filter(|x| *x > -6.0).collect();
        let mean = loud.iter().sum::<f32>() / loud.len() as f32;
        loud.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / loud.len() as f32
    };
    assert!(plain.frames() == lively.frames() && swing(&lively) > swing(&plain));
    voice.global_variance_scale[3] = 9.0;
    let harsh = block_on(voice.save_async(&base)).unwrap();
    assert_eq!(Voice::open(&base, &harsh).err().unwrap().code(), "voice-corrupt");
}

#[test]
fn variance_scale_is_measured_on_held_out_clips() {
    let base = tiny_base();
    // The spectrograms of a model this small are far too flat.
    for clips in [1, 3, 6] {
        let scale = run(&base, &held_out_clips(clips), 5).0.global_variance_scale;
        assert!(scale.iter().any(|scale| *scale > 1.05), "{clips} clips: {scale:?}");
    }
}

#[test]
fn a_clone_is_matched_to_its_speakers_spectra_and_keeps_that_in_its_file() {
    let base = tiny_base();
    let clips = held_out_clips(3);
    let (mut voice, _) = run(&base, &clips, 5);
    let bytes = block_on(voice.save_async(&base)).unwrap();
    let again = Voice::open(&base, &bytes).unwrap();
    assert!(voice.spectral_transport.is_some() && again.spectral_transport == voice.spectral_transport);
    let text = "Both judges gave the younger of the two boys five points.";
    let said = |voice: &Voice| say(&base, voice, text, &SpeakOptions::default()).unwrap();
    let mut recorded = SpectralStats::default();
    let (aligned, _) = block_on(align_clips(&base, &clips)).unwrap();
    aligned.iter().for_each(|clip| recorded.add(&clip.spectrogram(base.config().mels), &clip.phones()));
    let distance = |speech: Speech| {
        let mut said = SpectralStats::default();
        said.add(&speech.mel, &by_frame(&speech.symbols, &speech.durations));
        let SpectralTransport { shift, .. } =
            SpectralTransport::between(&said, &recorded).expect("there is speech in both");
        shift.iter().map(|shift| shift * shift).sum::<f32>().sqrt()
    };
    let matched = distance(said(&voice));
    voice.spectral_transport = None;
    let plain = distance(said(&voice));
    assert!(matched < 0.7 * plain, "{matched} {plain}");

    let hostile = |change: fn(&mut SpectralTransport)| {
        let mut voice = Voice::open(&base, &bytes).unwrap();
        voice.spectral_transport.as_mut().map(change).unwrap();
        let bytes = block_on(voice.save_async(&base)).unwrap();
        Voice::open(&base, &bytes).err().unwrap().code()
    };
    assert_eq!(hostile(|found| found.shift[3] = f32::NAN), "voice-corrupt");
    assert_eq!(hostile(|found| found.map[3] = 9.0), "voice-corrupt");
    assert_eq!(hostile(|found| found.mean.truncate(3)), "voice-corrupt");
    assert_eq!(hostile(|found| found.ceiling[3] = f32::NAN), "voice-corrupt");
}

/// What people have: a minute in one file, with its text.
#[test]
fn one_recording_of_many_sentences_is_cut_and_a_part_of_it_held_out() {
    let base = tiny_base();
    let clips = held_out_clips(9);
    let audio = Audio {
        samples: clips.iter().flat_map(|clip| clip.audio.samples.clone()).collect(),
        ..clips[0].audio
    };
    let whole =
        Clip { audio, text: clips.iter().map(|clip| clip.text.clone()).collect::<Vec<_>>().join(" ") };
    assert!(whole.audio.seconds() > 55.0);
    let (aligned, _) = block_on(align_clips(&base, std::slice::from_ref(&whole))).unwrap();
    let (sentences, _) = block_on(align_clips(&base, &clips)).unwrap();
    let phones = |clips: &[AlignedClip]| {
        clips
            .iter()
            .flat_map(|clip| clip.symbols.clone())
            .filter(|&symbol| symbols::is_phone(symbol))
            .collect::<Vec<_>>()
    };
    assert_eq!(phones(&aligned), phones(&sentences), "all of the text, in order");
    let seconds: Vec<f32> =
        aligned.iter().map(|clip| clip.frames() as f32 * base.mel_config().frame_seconds()).collect();
    assert!(aligned.len() >= 6 && seconds.iter().all(|seconds| (1.0..10.0).contains(seconds)), "{seconds:?}");
    let frames = |clips: &[AlignedClip]| clips.iter().map(AlignedClip::frames).sum::<usize>() as f32;
    // Pauses that are no cut stay.
    assert!(
        (frames(&aligned) / frames(&sentences) - 1.0).abs() < 0.2,
        "{} and {} frames",
        frames(&aligned),
        frames(&sentences)
    );
    for clip in &aligned {
        assert_eq!(
            (clip.mel.len(), clip.f0_hz.len()),
            (clip.frames() * base.mel_config().mels, clip.frames())
        );
    }
    let (_, steps) = run(&base, &[whole], 50);
    assert!(steps.iter().any(|step| step.validation.is_some()), "the stop rule has something to go by");
}

#[test]
fn consent_is_kept_in_the_voice_file() {
    let base = tiny_base();
    let mut voice = Voice::unadapted(&base);
    let consent = Consent { text: "This is my voice.".into(), recording_sha256: Some("0a".repeat(32)) };
    voice.set_consent(consent.clone()).unwrap();
    let bytes = block_on(voice.save_async(&base)).unwrap();
    assert_eq!(Voice::open(&base, &bytes).unwrap().info().consent, Some(consent));
    for (text, hash) in [
        (" ".to_string(), None),
        ("word ".repeat(300), None),
        ("I agree.".to_string(), Some("not a hash".to_string())),
    ] {
        assert_eq!(
            voice.set_consent(Consent { text, recording_sha256: hash }).unwrap_err().code(),
            "option-invalid"
        );
    }
}

#[test]
fn a_clip_that_says_something_else_is_named() {
    let base = tiny_base();
    let mut clips = held_out_clips(3);
    let (report, score) = block_on(check_clip(&base, &clips[1])).unwrap();
    assert!(report.speech_seconds > 3.0 && (-2.8..0.0).contains(&score), "{score}");
    clips[1].text = clips[2].text.clone();
    assert_eq!(block_on(check_clip(&base, &clips[1])).unwrap_err().code(), "clip-mismatch");
    let error = block_on(FineTuner::start_async(&base, &clips, options(1))).err().unwrap();
    assert_eq!((error.code(), error.clip_index()), ("clip-mismatch", Some(1)));
}

#[test]
fn a_preview_leaves_the_training_as_it_is() {
    let base = tiny_base();
    let clips = held_out_clips(2);
    let whole = run(&base, &clips, 6).0;
    let mut tuner = block_on(FineTuner::start_async(&base, &clips, options(6))).unwrap();
    let mut heard = Vec::new();
    while block_on(tuner.step_async()).unwrap().stop.is_none() {
        heard.push(say(&base, &tuner.preview(), "Good morning.", &SpeakOptions::default()).unwrap().mel);
    }
    assert!(heard.len() == 5 && heard[0] != heard[4], "it changes as it learns");
    let previewed = block_on(tuner.finish_async()).unwrap();
    assert_eq!(block_on(whole.save_async(&base)).unwrap(), block_on(previewed.save_async(&base)).unwrap());
}

#[test]
fn damaged_voice_files_are_refused() {
    let base = tiny_base();
    let bytes = block_on(Voice::unadapted(&base).save_async(&base)).unwrap();
    for cut in (0..bytes.len()).step_by(97) {
        assert_eq!(Voice::open(&base, &bytes[..cut]).err().unwrap().code(), "voice-corrupt", "cut at {cut}");
    }
    let other = other_base();
    assert_eq!(Voice::open(&other, &bytes).err().unwrap().code(), "base-mismatch");
    let mut hostile = bytes.clone();
    hostile[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert_eq!(Voice::open(&base, &hostile).err().unwrap().code(), "voice-corrupt");
}

#[test]
fn a_voice_file_keeps_whose_timing_it_follows() {
    let base = shipped_base();
    let voice = Voice::from_base_speaker(&base, 3);
    let bytes = block_on(voice.save_async(&base)).unwrap();
    let again = Voice::open(&base, &bytes).unwrap();
    let off = (again.timing_speaker - voice.timing_speaker.clone()).abs().max().into_scalar::<f32>();
    assert!(off < 1e-3, "in half precision");

    let (mut weights, metadata) = deserialize(&bytes).unwrap();
    let saved = |weights: &HostWeights| {
        block_on(serialize(on_device(weights.clone()), Storage::Bytes, metadata.clone())).unwrap()
    };
    let timing = weights.remove("timing_speaker").unwrap();
    weights.insert("timing_speaker".into(), (vec![1], timing.1[..1].to_vec()));
    assert_eq!(Voice::open(&base, &saved(&weights)).err().unwrap().code(), "voice-corrupt");
}

/// Words that a text has and a recording has not.
#[test]
fn a_text_that_is_not_spoken_throughout_is_found() {
    let base = tiny_base();
    let mut clips = held_out_clips(6);
    clips[2].text += " This addition was never spoken by anybody.";
    let spoken = block_on(spoken_throughout(&base, &clips)).unwrap();
    assert_eq!(spoken, [true, true, false, true, true, true]);
}

#[test]
fn damaged_bases_are_refused() {
    let (manifest, weights) = tiny_files();
    assert_eq!(load(&manifest, &weights[..weights.len() - 1]).err().unwrap().code(), "base-corrupt");
    let mut wide = manifest.clone();
    wide.model.decoder_width = 1 << 40;
    assert_eq!(load(&wide, &weights).err().unwrap().code(), "base-corrupt");
    let mut other = manifest.clone();
    other.model.decoder_width = 64;
    assert_eq!(load(&other, &weights).err().unwrap().code(), "base-corrupt");
    let mut strangers = manifest.clone();
    strangers.people = vec![manifest.speakers[0].clone()];
    assert!(load(&strangers, &weights).is_ok());
    strangers.people.push("nobody".into());
    assert_eq!(load(&strangers, &weights).err().unwrap().code(), "base-corrupt");
    let mut autoregressive = manifest.clone();
    autoregressive.model.autoregressive = true;
    let error = load(&autoregressive, &weights).err().unwrap();
    assert!(error.code() == "base-corrupt" && error.to_string().contains("autoregressive"), "{error}");
}

#[test]
fn bad_clips_are_refused_by_their_codes() {
    let base = tiny_base();
    let good = held_out_clips(1).remove(0);
    let code = |clip: Clip| {
        block_on(FineTuner::start_async(&base, &[clip], options(1))).err().map(|error| error.code())
    };
    assert_eq!(block_on(FineTuner::start_async(&base, &[], options(1))).err().unwrap().code(), "no-clips");
    let with_samples =
        |samples: Vec<f32>| Clip { audio: Audio { samples, ..good.audio.clone() }, ..good.clone() };
    assert_eq!(code(with_samples(Vec::new())), Some("clip-empty"));
    assert_eq!(code(with_samples(vec![0.0; 32_000])), Some("clip-too-quiet"));
    assert_eq!(code(with_samples(good.audio.samples[8000..12_800].to_vec())), Some("clip-too-short"));
    assert_eq!(
        code(with_samples(
            good.audio.samples.iter().map(|sample| (sample * 60.0).clamp(-1.0, 1.0)).collect()
        )),
        Some("clip-clipped")
    );
    assert_eq!(
        code(Clip { audio: Audio { sample_rate_hz: 1000, ..good.audio.clone() }, ..good.clone() }),
        Some("rate-unsupported")
    );
    assert_eq!(code(Clip { text: "  ".into(), ..good.clone() }), Some("text-empty"));
    assert_eq!(code(Clip { text: "\u{1f600}".into(), ..good.clone() }), Some("text-unsupported"));
    assert_eq!(code(good), None);
}

#[test]
fn other_rates_are_learned_from() {
    let base = tiny_base();
    let good = held_out_clips(1).remove(0);
    for rate_hz in [8_000, 96_000] {
        let samples =
            ownvoice::audio::resample::resample(&good.audio.samples, good.audio.sample_rate_hz, rate_hz)
                .unwrap();
        let clip = Clip { audio: Audio { samples, sample_rate_hz: rate_hz }, text: good.text.clone() };
        assert!(block_on(FineTuner::start_async(&base, &[clip], options(1))).is_ok(), "{rate_hz} Hz");
    }
}

#[test]
fn speech_ends_for_every_text() {
    let base = tiny_base();
    let voice = Voice::unadapted(&base);
    let code =
        |text: &str| say(&base, &voice, text, &SpeakOptions::default()).err().map(|error| error.code());
    assert_eq!(code(""), Some("text-empty"));
    assert_eq!(code("\u{4f60}\u{597d}"), Some("text-unsupported"));
    assert_eq!(code(&"word ".repeat(5000)), Some("text-too-long"));
    assert_eq!(code("Hello \u{1f600} there."), None);
}

#[test]
fn a_sentence_beyond_the_bound_is_spoken_in_parts_to_its_end() {
    let base = tiny_base();
    let voice = Voice::unadapted(&base);
    let clause = "This takes far longer than its bound, with a pause and with none where one is needed, and still all of it is spoken";
    let text = [clause; 3].join(" ");
    let phones = |symbols: &[Symbol]| {
        symbols.iter().copied().filter(|&symbol| symbols::is_phone(symbol)).collect::<Vec<_>>()
    };
    let spoken = say(&base, &voice, &text, &SpeakOptions { speed: 0.25, ..SpeakOptions::default() }).unwrap();
    assert!(spoken.mel.frames() > 2400, "the premise: {} frames", spoken.mel.frames());
    assert_eq!(spoken.stop.name(), "durations");
    assert_eq!(phones(&spoken.symbols), phones(&base.phonemizer.symbols(&text).unwrap()));
    let frames = spoken.durations.iter().sum::<u32>() as usize;
    assert_eq!(spoken.mel.frames(), frames, "joined without a gap");
}

#[test]
fn long_text_is_spoken_by_sentences_and_can_be_cancelled_between_them() {
    let base = tiny_base();
    let voice = Voice::unadapted(&base);
    let vocoder = GriffinLim::new(base.mel_config().clone());
    let mut heard = Vec::new();
    let result = block_on(speak_async(
        &base,
        &voice,
        "The first sentence is quite short. The second one follows it. The third ends the text.",
        &SpeakOptions::default(),
        &vocoder,
        async |done, all| {
            heard.push((done, all));
            done < 1
        },
    ));
    assert!(result.err().unwrap().is_cancelled());
    assert_eq!(heard, vec![(0, 3), (1, 3)]);
}
