//! How a clone's timing and melody differ from those of the speaker that it starts from, in closed form: a minute holds a few dozen melodies, too few to
//! train a predictor on. Of its phones, which are long or short, and its frames, which are voiced or not, there are enough to learn a readout from.

use burn::prelude::*;

use super::{
    clip::AlignedClip,
    frame_store::{FrameStore, Span},
    timing::{Timing, timing},
    voicing::voicing_readout,
};
use crate::{
    Result,
    audio::excitation::EXCITATION_WIDTH,
    model::{
        head_delta::HeadDelta,
        pitch::{Contour, Intonation, PitchPredictor, SPREADS},
    },
    voice::{Base, Voice},
};
use burn_fused::readback::read;

/// How somebody speaks, apart from the sound of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Prosody {
    /// Factor on the durations of the speaker of the base.
    pub duration_scale: f32,
    /// Which phones last longer than that, and which shorter; `None` where no phone was recorded.
    pub duration_head_delta: Option<HeadDelta>,
    /// `None` on a base without pitch.
    pub intonation: Option<Intonation>,
    /// `None` there too, and for a whisper.
    pub voicing_readout: Option<HeadDelta>,
}

impl Default for Prosody {
    /// That of the base.
    fn default() -> Self {
        Self { duration_scale: 1.0, duration_head_delta: None, intonation: None, voicing_readout: None }
    }
}

impl Prosody {
    /// * `store`: of the clips
    /// * `speaker`: the speaker of the base whose timing and melody are followed
    pub async fn measure(
        base: &Base,
        clips: &[AlignedClip],
        store: &FrameStore,
        speaker: usize,
    ) -> Result<Self> {
        let Timing { scale: duration_scale, readout: duration_head_delta } =
            timing(base, clips, &base.speaker(speaker)).await?;
        let Some(predictor) = &base.model.pitch else {
            return Ok(Self { duration_scale, duration_head_delta, intonation: None, voicing_readout: None });
        };
        let reduction = base.config().reduction;
        let states = |&clip: &Span| {
            let contexts = store.context_of(clip, reduction);
            let unexcited = contexts.dims()[2] - EXCITATION_WIDTH;
            let steps = contexts.dims()[1] / reduction;
            predictor.hidden(contexts.narrow(2, 0, unexcited), base.speaker(speaker), &[steps])
        };
        let states: Vec<Tensor<3>> = store.clips.iter().map(states).collect();
        let voicing_readout = voicing_readout(predictor, &states, clips).await?;
        let predictor = match &voicing_readout {
            Some(readout) => &predictor.with_readout(readout),
            None => predictor,
        };
        // Of a whisper from end to end nothing is known: the base's own.
        let intonation = intonation(predictor, &states, clips).await?.or_else(|| base.intonation(speaker));
        Ok(Self { duration_scale, duration_head_delta, intonation, voicing_readout })
    }

    /// The speaker of the base, speaking like this.
    pub fn base_speaker_voice(&self, base: &Base, speaker: usize) -> Voice {
        let mut voice = Voice::from_base_speaker(base, speaker);
        voice.duration_scale = self.duration_scale;
        voice.duration_head_delta = self.duration_head_delta.clone();
        voice.intonation = self.intonation;
        voice.voicing_readout = self.voicing_readout.clone();
        voice
    }
}

/// How much wider than measured a melody is said: a tracked contour is smoother than a voice, and predictions for new sentences vary less than for the clips.
const WIDENED: f32 = 1.15;

/// Mean and spread of the speaker's pitch in closed form: a minute holds too few melodies to learn a predictor from. `None` where nothing is voiced.
///
/// * `predictor`: with the speaker's own readout of voicing
/// * `states`:    of it for each clip, `[1, N, 2 W]`
async fn intonation(
    predictor: &PitchPredictor,
    states: &[Tensor<3>],
    clips: &[AlignedClip],
) -> Result<Option<Intonation>> {
    let (mut recorded, mut predicted) = (Vec::new(), Vec::new());
    for (states, clip) in states.iter().zip(clips) {
        let melody = predictor.read_out(states.clone());
        let count = melody.shape().num_elements();
        let contour = Contour::new(&read(melody.reshape([count])).await?);
        for (&hz, &ln_hz) in clip.f0_hz.iter().zip(&contour.smooth).filter(|(hz, _)| **hz > 0.0) {
            recorded.push(hz.ln());
            predicted.push(ln_hz);
        }
    }
    if recorded.is_empty() {
        return Ok(None);
    }
    let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
    let mean_hz = mean(&recorded).exp();
    // Between quantiles: a pitch tracker's octave errors would count most in a standard deviation.
    let range = |values: &mut [f32]| {
        values.sort_by(f32::total_cmp);
        values[values.len() * 9 / 10] - values[values.len() / 10]
    };
    let ratio = range(&mut recorded) / range(&mut predicted).max(1e-3);
    let spread = (WIDENED * ratio).clamp(*SPREADS.start(), *SPREADS.end());
    Ok(Some(Intonation { mean_hz, spread }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clone::frame_store::assemble;
    use crate::text::symbols;

    /// Of any whole number of steps.
    const WINDOW: usize = 64;

    fn prosody(base: &Base, clips: &[AlignedClip], speaker: usize) -> Prosody {
        let store = assemble(base, clips, WINDOW);
        pollster::block_on(Prosody::measure(base, clips, &store, speaker)).unwrap()
    }

    #[test]
    fn tempo_and_melody_are_found() {
        let base = Base::open("../../models/base", &Device::flex()).unwrap();
        let speaker = base.speakers().iter().position(|name| name == "espeak-en-us-f2").unwrap();
        let own = base.intonation(speaker).unwrap();
        let intonation = Some(Intonation { mean_hz: 1.2 * own.mean_hz, spread: 0.7 });
        let voice = Prosody { duration_scale: 1.3, intonation, ..Prosody::default() }
            .base_speaker_voice(&base, speaker);
        let texts = [
            "The ferry leaves at half past nine.",
            "Nobody expected so many people, on such a cold evening.",
        ];
        let clip = |text: &&str| pollster::block_on(AlignedClip::said(&base, &voice, text)).unwrap();
        let mut clips: Vec<AlignedClip> = texts.iter().map(clip).collect();
        let found = prosody(&base, &clips, speaker);
        assert!((found.duration_scale - 1.3).abs() < 0.02, "{}", found.duration_scale);
        let Intonation { mean_hz, spread } = found.intonation.unwrap();
        assert!((spread - 0.7 * WIDENED).abs() < 0.05, "{spread}");
        assert!((mean_hz / own.mean_hz - 1.2).abs() < 0.1, "{mean_hz} of {} Hz", own.mean_hz);
        clips.iter_mut().for_each(|clip| clip.foreign = true);
        let foreign = prosody(&base, &clips, speaker);
        assert!(
            (foreign.duration_scale - found.duration_scale.sqrt()).abs() < 1e-3,
            "a tempo carries over in part"
        );
    }

    /// Somebody whose nasals have no voice.
    #[test]
    fn voicing_is_found() {
        let base = Base::open("../../models/base", &Device::flex()).unwrap();
        let speaker = base.default_speaker();
        let plain = Voice::from_base_speaker(&base, speaker);
        let texts =
            ["Nobody knew many of the men.", "My aunt may remember none of them, and Norman no more."];
        let nasals = ["M", "N", "NG"].map(|name| symbols::Symbol::from_name(name).unwrap());
        let clip = |text: &&str| {
            let mut clip = pollster::block_on(AlignedClip::said(&base, &plain, text)).unwrap();
            let phones = clip.phones();
            let frames = clip.f0_hz.iter_mut().zip(phones);
            frames.filter(|(_, phone)| nasals.contains(phone)).for_each(|(hz, _)| *hz = 0.0);
            clip
        };
        let clips: Vec<AlignedClip> = texts.iter().map(clip).collect();
        // Of a few seconds less is believed.
        let minute: Vec<AlignedClip> = clips.iter().cycle().take(24).cloned().collect();
        let found = prosody(&base, &minute, speaker);
        let right = |voice: &Voice| {
            let of_clip = |clip: &AlignedClip| {
                let frames = clip.frames().next_multiple_of(base.config().reduction);
                let contexts = base.contexts(&clip.symbols, &clip.durations, frames);
                let readout = voice.voicing_readout.as_ref();
                let contour = base.contour_async(&contexts, &voice.timing_speaker, readout);
                let logits = pollster::block_on(contour).unwrap().unwrap().voicing;
                let same = |(hz, logit): &(&f32, f32)| (**hz > 0.0) == (*logit > 0.0);
                clip.f0_hz.iter().zip(logits).filter(same).count()
            };
            let frames: usize = clips.iter().map(AlignedClip::frames).sum();
            clips.iter().map(of_clip).sum::<usize>() as f32 / frames as f32
        };
        let (before, after) = (
            right(&Voice::from_base_speaker(&base, speaker)),
            right(&found.base_speaker_voice(&base, speaker)),
        );
        assert!(before < 0.8 && after > 0.9, "{before} {after} of the frames have voice where they should");
    }
}
