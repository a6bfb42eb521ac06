//! Whose timing and whose melody a clone follows, and how far it differs from them, in closed form: a minute holds some six hundred phones and a few
//! dozen melodies, too few to train predictors on.

use burn::prelude::*;

use super::super::clip::AlignedClip;
use crate::{
    Result,
    model::{
        pitch::{Contour, Intonation, SPREADS},
        tacotron::Symbols,
    },
    nn::{Mode, readback::read},
    text::symbols,
    voice::Base,
};

/// How somebody speaks, apart from the sound of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prosody {
    /// The speaker of the base whose durations are most like the clips'.
    pub timing_speaker: usize,
    /// Factor on these durations.
    pub duration_scale: f32,
    /// The speaker of the base whose voicing and melody are most like the clips'.
    pub pitch_speaker: usize,
    /// `None` on a base without pitch.
    pub intonation: Option<Intonation>,
}

/// Frames that all speakers of the base are compared on, 5 s at 16 kHz, and how many of them are compared on the rest.
const SAMPLE_FRAMES: usize = 400;
const FINALISTS: usize = 5;

impl Prosody {
    /// Of foreign clips both speakers are the nearest: their phones are not those that timing and melody were predicted for.
    ///
    /// * `nearest`: the speaker of the base whose spectra are nearest to the clips'
    pub async fn of(base: &Base, clips: &[AlignedClip], nearest: usize) -> Result<Self> {
        let clips: Vec<Encoded> = clips.iter().map(|clip| Encoded::new(base, clip)).collect();
        let (timing_speaker, pitch_speaker) = match clips.iter().any(|encoded| encoded.clip.foreign) {
            true => (nearest, nearest),
            false => {
                (timing_speaker(base, &clips).await?, pitch_speaker(base, &clips).await?.unwrap_or(nearest))
            }
        };
        Ok(Self {
            timing_speaker,
            duration_scale: duration_scale(base, &clips, timing_speaker).await?,
            pitch_speaker,
            intonation: intonation(base, &clips, pitch_speaker).await?,
        })
    }
}

/// A clip and what no speaker has a part in.
struct Encoded<'a> {
    clip: &'a AlignedClip,
    /// `[1, L, E]`
    symbols: Tensor<3>,
    /// `[1, T, C]`, without excitation
    contexts: Tensor<3>,
}

impl<'a> Encoded<'a> {
    fn new(base: &Base, clip: &'a AlignedClip) -> Self {
        let frames = clip.frames().next_multiple_of(base.config().reduction);
        let input = Symbols::new(&[&clip.symbols], None, &base.device);
        Self {
            clip,
            symbols: base.model.encode(&input, Mode::Eval),
            contexts: base.contexts(&clip.symbols, &clip.durations, frames),
        }
    }

    /// Its phones' recorded frames, and as many as a speaker of the base would give them.
    async fn durations(&self, base: &Base, speaker: usize) -> Result<impl Iterator<Item = (f32, f32)>> {
        let count = self.clip.symbols.len();
        let logs = base.model.durations.forward(self.symbols.clone(), base.speaker(speaker), &[count]);
        let phones =
            self.clip.symbols.iter().zip(&self.clip.durations).zip(read(logs.reshape([count])).await?);
        Ok(phones
            .filter(|((symbol, _), _)| symbols::is_phone(**symbol))
            .map(|((_, &frames), log)| (frames as f32, log.exp())))
    }

    /// Its melody as a speaker of the base would have it in this timing; `None` on a base without pitch.
    async fn contour(&self, base: &Base, speaker: usize) -> Result<Option<Contour>> {
        base.contour_async(&self.contexts, &base.speaker(speaker)).await
    }
}

/// The speaker with the least spread of the ratio of recorded to predicted lengths: one factor then explains the clips' timing best.
///
/// Speakers made of others by moving pitch and formants have their timing, and are passed over.
async fn timing_speaker(base: &Base, clips: &[Encoded<'_>]) -> Result<usize> {
    let mut best = (f32::INFINITY, 0);
    for (speaker, _) in base.speakers().iter().enumerate().filter(|(_, name)| !name.contains('@')) {
        let mut logs = Vec::new();
        for clip in clips {
            let phones = clip.durations(base, speaker).await?;
            logs.extend(phones.map(|(recorded, predicted)| (recorded / predicted).ln()));
        }
        best = if spread(&logs) < best.0 { (spread(&logs), speaker) } else { best };
    }
    Ok(best.1)
}

/// Standard deviation.
fn spread(values: &[f32]) -> f32 {
    let count = values.len().max(1) as f32;
    let mean = values.iter().sum::<f32>() / count;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / count).sqrt()
}

/// The speaker whose voicing and melody make the clips' most probable: a few frames choose the finalists, all frames the speaker. `None` on a base without
/// pitch.
async fn pitch_speaker(base: &Base, clips: &[Encoded<'_>]) -> Result<Option<usize>> {
    let mut frames = 0;
    let sample = clips.iter().take_while(|clip| {
        frames += clip.clip.frames();
        frames < SAMPLE_FRAMES + clip.clip.frames()
    });
    let sample = &clips[..sample.count()];
    let mut speakers: Vec<usize> = (0..base.manifest.speakers.len()).collect();
    for (clips, keep) in [(sample, FINALISTS), (clips, 1)] {
        let mut found = Vec::with_capacity(speakers.len());
        for speaker in speakers {
            let Some(surprise) = surprise(base, clips, speaker).await? else { return Ok(None) };
            found.push((surprise, speaker));
        }
        found.sort_by(|left, right| left.0.total_cmp(&right.0));
        speakers = found.into_iter().take(keep).map(|(_, speaker)| speaker).collect();
    }
    Ok(speakers.first().copied())
}

/// Negative log likelihood of a frame of the clips' phones: of being voiced or not, and of its pitch about the best line through the predicted one. `None`
/// on a base without pitch.
async fn surprise(base: &Base, clips: &[Encoded<'_>], speaker: usize) -> Result<Option<f32>> {
    let (mut entropy, mut frames) = (0.0, 0usize);
    let (mut predicted, mut recorded) = (Vec::new(), Vec::new());
    for encoded in clips {
        let Some(contour) = encoded.contour(base, speaker).await? else { return Ok(None) };
        let clip = encoded.clip;
        let phones =
            clip.symbols.iter().zip(&clip.durations).flat_map(|(&symbol, &frames)| {
                std::iter::repeat_n(symbols::is_phone(symbol), frames as usize)
            });
        for (frame, (_, &hz)) in phones.zip(&clip.f0_hz).enumerate().filter(|(_, (phone, _))| *phone) {
            let logit = if hz > 0.0 { contour.voicing[frame] } else { -contour.voicing[frame] };
            entropy += (-logit.clamp(-20.0, 20.0)).exp().ln_1p();
            frames += 1;
            if hz > 0.0 {
                predicted.push(contour.smooth[frame]);
                recorded.push(hz.ln());
            }
        }
    }
    let explained = correlation(&predicted, &recorded).max(0.0).powi(2).min(0.99);
    let melody = 0.5 * (1.0 - explained).ln() * recorded.len() as f32;
    Ok(Some((entropy + melody) / frames.max(1) as f32))
}

/// Pearson's; 0 where one of them does not vary.
fn correlation(left: &[f32], right: &[f32]) -> f32 {
    let count = left.len().max(1) as f32;
    let mean = |values: &[f32]| values.iter().sum::<f32>() / count;
    let (a, b) = (mean(left), mean(right));
    let product = left.iter().zip(right).map(|(x, y)| (x - a) * (y - b)).sum::<f32>() / count;
    let spreads = spread(left) * spread(right);
    if spreads > 0.0 { product / spreads } else { 0.0 }
}

/// Durations of the clips' phones relative to the predicted ones: a ratio of sums, so that the clips' speech keeps its length. Pauses are left out.
///
/// The base predicts the phones of foreign clips worse, and a tempo carries over to another language in part: their ratio counts by its root.
async fn duration_scale(base: &Base, clips: &[Encoded<'_>], speaker: usize) -> Result<f32> {
    let (mut recorded, mut expected, mut foreign) = (0.0, 0.0, 0.0);
    for clip in clips {
        for (frames, predicted) in clip.durations(base, speaker).await? {
            recorded += frames;
            expected += predicted;
            foreign += if clip.clip.foreign { frames } else { 0.0 };
        }
    }
    if expected == 0.0 {
        return Ok(1.0);
    }
    Ok((recorded / expected).powf(1.0 - 0.5 * foreign / recorded).clamp(0.5, 2.0))
}

/// Mean and spread of the speaker's pitch in closed form: a minute holds too few melodies to learn a predictor from. `None` on a base without pitch.
async fn intonation(base: &Base, clips: &[Encoded<'_>], speaker: usize) -> Result<Option<Intonation>> {
    let (mut recorded, mut predicted) = (Vec::new(), Vec::new());
    for clip in clips {
        let Some(contour) = clip.contour(base, speaker).await? else { return Ok(None) };
        for (&hz, &ln_hz) in clip.clip.f0_hz.iter().zip(&contour.smooth).filter(|(hz, _)| **hz > 0.0) {
            recorded.push(hz.ln());
            predicted.push(ln_hz);
        }
    }
    // Whispered from end to end: the base's own.
    if recorded.is_empty() {
        return Ok(base.intonation(speaker));
    }
    let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
    let mean_hz = mean(&recorded).exp();
    // Between quantiles: a pitch tracker's octave errors would count most in a standard deviation.
    let range = |values: &mut [f32]| {
        values.sort_by(f32::total_cmp);
        values[values.len() * 9 / 10] - values[values.len() / 10]
    };
    let spread =
        (range(&mut recorded) / range(&mut predicted).max(1e-3)).clamp(*SPREADS.start(), *SPREADS.end());
    Ok(Some(Intonation { mean_hz, spread }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{synth::speak::say_symbols, voice::Voice};

    /// What a speaker of the base says, with another's timing.
    fn spoken(base: &Base, timing: usize, pitch: usize) -> Vec<AlignedClip> {
        let mut voice = Voice::of_base_speaker(base, pitch);
        (voice.timing_speaker, voice.duration_scale) = (base.speaker(timing), 1.3);
        let texts = [
            "The ferry leaves at half past nine.",
            "Nobody expected so many people, on such a cold evening.",
        ];
        let clip = |text: &&str| {
            let (symbols, durations, mel, f0_hz) =
                pollster::block_on(say_symbols(base, &voice, text)).unwrap();
            AlignedClip { symbols, durations, mel: mel.data, f0_hz, foreign: false }
        };
        texts.iter().map(clip).collect()
    }

    #[test]
    fn the_speakers_who_said_it_are_found() {
        let base = Base::open("../models/base", &Device::flex()).unwrap();
        let index = |name: &str| base.speakers().iter().position(|other| other == name).unwrap();
        let (timing, pitch, nearest) = (index("flite-rms"), index("espeak-en-us-f2"), index("flite-slt"));
        let mut clips = spoken(&base, timing, pitch);
        let found = pollster::block_on(Prosody::of(&base, &clips, nearest)).unwrap();
        assert_eq!((found.timing_speaker, found.pitch_speaker), (timing, pitch));
        assert!((found.duration_scale - 1.3).abs() < 0.02, "{}", found.duration_scale);
        let Intonation { mean_hz, spread } = found.intonation.unwrap();
        assert!((spread - 1.0).abs() < 0.1, "{spread}");
        let expected = base.intonation(pitch).unwrap().mean_hz;
        assert!((mean_hz / expected - 1.0).abs() < 0.1, "{mean_hz} of {expected} Hz");

        clips[0].foreign = true;
        let foreign = pollster::block_on(Prosody::of(&base, &clips, nearest)).unwrap();
        assert_eq!((foreign.timing_speaker, foreign.pitch_speaker), (nearest, nearest));
    }

    #[test]
    fn a_line_explains_what_it_goes_through() {
        assert!((correlation(&[1.0, 2.0, 4.0], &[3.0, 5.0, 9.0]) - 1.0).abs() < 1e-5);
        assert!((correlation(&[1.0, 2.0, 3.0], &[1.0, -1.0, 1.0])).abs() < 1e-5);
        assert_eq!(correlation(&[2.0, 2.0], &[1.0, 3.0]), 0.0);
        assert_eq!((correlation(&[], &[]), spread(&[])), (0.0, 0.0));
    }
}
