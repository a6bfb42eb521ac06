//! The evaluation can be believed: faults that are planted in real recordings are noticed, each by the figure that is there for it.

mod common;

use common::{held_out_clips, shipped_base};
use ownvoice::{
    audio::{mel::MelExtractor, resample::resample},
    evaluate::{
        difference,
        speaker::{SpeakerStats, distance},
    },
    synth::{SpeakOptions, speak_async},
    train::Clip,
    voice::{Base, Voice},
};
use pollster::block_on;
use rand::{Rng, SeedableRng};

const RATE_HZ: u32 = 16_000;

fn samples(clip: &Clip) -> Vec<f32> {
    resample(&clip.samples, clip.sample_rate_hz, RATE_HZ).unwrap()
}

fn stats<'a>(clips: impl IntoIterator<Item = &'a [f32]>) -> SpeakerStats {
    let mut stats = SpeakerStats::default();
    clips.into_iter().for_each(|clip| stats.merge(&SpeakerStats::from_audio(clip, RATE_HZ).unwrap()));
    stats
}

/// Three semitones up, by playing faster.
fn higher(samples: &[f32]) -> Vec<f32> {
    resample(samples, (RATE_HZ as f32 * 2f32.powf(0.25)) as u32, RATE_HZ).unwrap()
}

/// White noise 10 dB below the clip.
fn noisy(samples: &[f32]) -> Vec<f32> {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let power = samples.iter().map(|x| x * x).sum::<f32>() / samples.len() as f32;
    let bound = (3.0 * power / 10.0).sqrt();
    samples.iter().map(|x| x + random.random_range(-bound..bound)).collect()
}

/// Without its middle third.
fn dropped(samples: &[f32]) -> Vec<f32> {
    [&samples[..samples.len() / 3], &samples[samples.len() * 2 / 3..]].concat()
}

fn phoneme_error_rate(base: &Base, text: &str, samples: &[f32]) -> f32 {
    let mel = MelExtractor::new(base.mel_config().clone()).extract(samples);
    let errors = block_on(base.aligner.phoneme_errors(&mel, &base.phonemizer.symbols(text).unwrap())).unwrap();
    errors.errors as f32 / errors.length as f32
}

#[test]
fn planted_faults_are_noticed() {
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
        .map(|clip| block_on(speak_async(&base, &Voice::unadapted(&base), &clip.text, &SpeakOptions::default(), &*base.vocoder, async |_, _| true)).unwrap().samples)
        .collect();
    let stranger = distance(&stats(stranger.iter().map(Vec::as_slice)), &target);
    println!("distance: the same speaker {same:.3}, three semitones higher {pitch:.3}, in noise {noise:.3}, another speaker {stranger:.3}");
    assert!(pitch > 3.0 * same && noise > 3.0 * same && stranger > 10.0 * same);

    let (clip, text) = (&recordings[0], &clips[0].text);
    let shifted = difference(clip, &higher(clip), RATE_HZ).unwrap();
    let in_noise = difference(clip, &noisy(clip), RATE_HZ).unwrap();
    println!("log F0 {:.3} of a shift of {:.3}; {:.1} dB in noise", shifted.logf0_rmse, 2f32.ln() / 4.0, in_noise.mcd_db);
    assert!((shifted.logf0_rmse - 2f32.ln() / 4.0).abs() < 0.05);
    assert!(in_noise.mcd_db > 2.0);

    let (whole, cut) = (phoneme_error_rate(&base, text, clip), phoneme_error_rate(&base, text, &dropped(clip)));
    println!("phoneme error rate {whole:.2}, without a third of the words {cut:.2}");
    assert!(cut > whole + 0.15);
}
