//! Validates the evaluation: each artificial fault in real recordings is detected by the corresponding measure.

use ownvoice::{
    audio::{
        Audio,
        mel::MelExtractor,
        resample::resample,
        speaker::{SpeakerStats, distance},
    },
    clone::{
        FineTuner,
        clip::Clip,
        options::{CloneOptions, StopRule},
    },
    synth::{SpeakOptions, speak_async},
    voice::{Base, Voice},
};
use ownvoice_cli::speaker_encoder::verifier::SpeakerVerifier;
use ownvoice_cli::{
    corpus::Perturbation,
    evaluate::{
        difference,
        faults::Fault,
        measured::{Identity, Similarity},
        report::Evaluation,
    },
};
use ownvoice_testing::{held_out_clips, root, shipped_base};
use pollster::block_on;
use rand::{Rng, SeedableRng};

/// Returns the shipped speaker encoder.
fn shipped_verifier() -> SpeakerVerifier {
    SpeakerVerifier::load(&std::fs::read(root().join("models/base/speaker_encoder.safetensors")).unwrap())
        .unwrap()
}

const RATE_HZ: u32 = 16_000;

fn samples(clip: &Clip) -> Vec<f32> {
    resample(&clip.audio.samples, clip.audio.sample_rate_hz, RATE_HZ).unwrap()
}

fn at_rate(samples: Vec<f32>) -> Audio {
    Audio { samples, sample_rate_hz: RATE_HZ }
}

fn stats<'a>(clips: impl IntoIterator<Item = &'a [f32]>) -> SpeakerStats {
    let mut stats = SpeakerStats::default();
    clips.into_iter().for_each(|clip| stats.merge(&SpeakerStats::from_audio(clip, RATE_HZ).unwrap()));
    stats
}

/// Raises the pitch by three semitones by faster playback.
fn higher(samples: &[f32]) -> Vec<f32> {
    resample(samples, (RATE_HZ as f32 * 2f32.powf(0.25)) as u32, RATE_HZ).unwrap()
}

/// Adds white noise 10 dB below the clip.
fn noisy(samples: &[f32]) -> Vec<f32> {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let power = samples.iter().map(|x| x * x).sum::<f32>() / samples.len() as f32;
    let bound = (3.0 * power / 10.0).sqrt();
    samples.iter().map(|x| x + random.random_range(-bound..bound)).collect()
}

/// Removes the middle third of the clip.
fn dropped(samples: &[f32]) -> Vec<f32> {
    [&samples[..samples.len() / 3], &samples[samples.len() * 2 / 3..]].concat()
}

fn phoneme_error_rate(base: &Base, text: &str, samples: &[f32]) -> f32 {
    let mel = MelExtractor::new(base.mel_config().clone()).extract(samples);
    let errors =
        block_on(base.aligner.phoneme_errors(&mel, &base.phonemizer.symbols(text).unwrap())).unwrap();
    errors.errors as f32 / errors.length as f32
}

#[test]
fn artificial_faults_are_detected() {
    let base = shipped_base();
    let clips = held_out_clips(8);
    let recordings: Vec<Vec<f32>> = clips.iter().map(samples).collect();
    let (target, others) = recordings.split_at(4);
    let target = stats(target.iter().map(Vec::as_slice));
    let apart = |change: &dyn Fn(&[f32]) -> Vec<f32>| {
        let changed: Vec<Vec<f32>> = others.iter().map(|clip| change(clip)).collect();
        distance(&stats(changed.iter().map(Vec::as_slice)), &target)
    };
    let same = apart(&<[f32]>::to_vec);
    let (pitch, noise) = (apart(&higher), apart(&noisy));
    let stranger: Vec<Vec<f32>> = clips[4..]
        .iter()
        .map(|clip| {
            block_on(speak_async(
                &Voice::unadapted(&base),
                &clip.text,
                &SpeakOptions::default(),
                &*base.vocoder,
                async |_, _| true,
            ))
            .unwrap()
        })
        .map(|speech| resample(&speech.samples, speech.sample_rate_hz, RATE_HZ).unwrap())
        .collect();
    let stranger = distance(&stats(stranger.iter().map(Vec::as_slice)), &target);
    println!(
        "distance: the same speaker {same:.3}, three semitones higher {pitch:.3}, in noise {noise:.3}, another speaker {stranger:.3}"
    );
    assert!(pitch > 3.0 * same && noise > 3.0 * same && stranger > 10.0 * same);

    let (clip, text) = (&recordings[0], &clips[0].text);
    let [recorded, higher, noisy] = [clip.clone(), higher(clip), noisy(clip)].map(at_rate);
    let (shifted, in_noise) =
        (difference(&recorded, &higher).unwrap(), difference(&recorded, &noisy).unwrap());
    println!(
        "log F0 {:.3} of a shift of {:.3}; {:.1} dB in noise",
        shifted.logf0_rmse,
        2f32.ln() / 4.0,
        in_noise.mcd_db
    );
    assert!((shifted.logf0_rmse - 2f32.ln() / 4.0).abs() < 0.05);
    assert!(in_noise.mcd_db > 2.0);

    let (whole, cut) =
        (phoneme_error_rate(&base, text, clip), phoneme_error_rate(&base, text, &dropped(clip)));
    println!("phoneme error rate {whole:.2}, without a third of the words {cut:.2}");
    assert!(cut > whole + 0.15);
}

#[test]
fn each_artificial_fault_is_counted_under_its_kind() {
    let (base, verifier) = (shipped_base(), shipped_verifier());
    let clips = held_out_clips(8);
    let evaluation = block_on(Evaluation::new(&base, Some(&verifier), &clips, 4)).unwrap();
    let count = |fault: Fault, change: &dyn Fn(&[f32]) -> Vec<f32>| {
        let changed: Vec<_> = evaluation
            .recordings()
            .iter()
            .map(|(text, clip)| (text.clone(), at_rate(change(&clip.samples))))
            .collect();
        block_on(evaluation.measure_clips(&changed)).unwrap().with_fault(fault)
    };
    let third =
        |clip: &[f32], index: usize| clip[clip.len() * index / 3..clip.len() * (index + 1) / 3].to_vec();
    let twice = |clip: &[f32]| [third(clip, 0), third(clip, 1), third(clip, 1), third(clip, 2)].concat();
    let slow = |clip: &[f32]| resample(clip, RATE_HZ, RATE_HZ * 5 / 3).unwrap();
    let hissing = |clip: &[f32]| noisy(&noisy(clip));
    let warbling = |clip: &[f32]| {
        let higher = Perturbation { formants: 1.0, pitch: 1.5 }.apply(clip, RATE_HZ).unwrap();
        (0..clip.len()).map(|n| if n / 1600 % 2 == 0 { clip[n] } else { higher[n] }).collect()
    };
    let planted: [(Fault, &dyn Fn(&[f32]) -> Vec<f32>); 6] = [
        (Fault::Skipped, &dropped),
        (Fault::Repeated, &twice),
        (Fault::Runaway, &slow),
        (Fault::Noisy, &hissing),
        (Fault::UnstablePitch, &warbling),
        (Fault::Damaged, &|clip| clip.iter().map(|x| (8.0 * x).clamp(-1.0, 1.0)).collect()),
    ];
    for (fault, change) in planted {
        let (before, after) = (count(fault, &<[f32]>::to_vec), count(fault, change));
        println!("{}: {before} of 4 recordings, {after} with the fault", fault.name());
        assert!(before == 0 && after >= 3, "{}: {before} and {after} of 4", fault.name());
    }
}

/// Clones a voice; returns it before the first iteration and after a few.
fn start_and_clone(base: &Base, clips: &[Clip]) -> (Voice, Voice) {
    let options = CloneOptions { iterations: 40, stop_rule: StopRule::Fixed, ..CloneOptions::default() };
    let mut tuner = block_on(FineTuner::start_async(base, clips, options)).unwrap();
    let start = tuner.preview();
    while block_on(tuner.step_async()).unwrap().stop.is_none() {}
    (start, block_on(tuner.finish_async()).unwrap())
}

#[test]
fn similarity_ranks_recordings_before_the_clone_before_the_base_and_other_speakers() {
    let (base, verifier) = (shipped_base(), shipped_verifier());
    let awb = held_out_clips(12);
    // The same words of another synthetic speaker: pitch five semitones and formants 15 % higher.
    let perturbed = |clip: &Clip| Clip {
        audio: Audio {
            samples: Perturbation { formants: 1.15, pitch: 1.335 }.apply(&samples(clip), RATE_HZ).unwrap(),
            sample_rate_hz: RATE_HZ,
        },
        ..clip.clone()
    };
    let higher: Vec<Clip> = awb.iter().map(perturbed).collect();
    for (name, clips, others) in [("flite-awb", &awb, &higher), ("flite-awb-higher", &higher, &awb)] {
        let evaluation = block_on(Evaluation::new(&base, Some(&verifier), clips, 6)).unwrap();
        let (start, clone) = start_and_clone(&base, &clips[..6]);
        let of = |identity: &Identity| {
            let Similarity { statistics, encoder } = identity.similarity(&evaluation.target);
            (statistics, encoder.unwrap())
        };
        // The sentences of the speaker's other recordings are used, because those of the target would favour the clone.
        let texts: Vec<&str> =
            clips.iter().take(evaluation.others.len()).map(|clip| clip.text.as_str()).collect();
        let synthesised = |voice: &Voice| block_on(evaluation.measure_texts(voice, &texts)).unwrap().identity;
        let wrong: Vec<Audio> = others[6..].iter().map(|clip| at_rate(samples(clip))).collect();
        let ranks = [
            of(&evaluation.same_speaker),
            of(&synthesised(&clone)),
            of(&synthesised(&start)),
            of(&Identity::from_clips(&wrong, Some(&verifier)).unwrap()),
        ];
        println!("{name}: same speaker, clone, base, another: {ranks:.3?}");
        // The similarities of the base and of another speaker are about zero, so their order has no meaning.
        let [same, clone, start, wrong] = ranks;
        assert!(
            same.1 > clone.1 && clone.1 > start.1.max(wrong.1) + 0.2,
            "{name}, by the encoder: {ranks:?}"
        );
        assert!(same.0 > clone.0 && clone.0 > start.0.max(wrong.0) + 0.3, "{name}, by statistics: {ranks:?}");
    }
}
