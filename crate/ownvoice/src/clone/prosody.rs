//! The prosody of a clone, measured in closed form relative to the nearest speaker of the base.
//!
//! A minute has a few dozen intonation phrases, too few to train a pitch predictor: mean and spread are measured. It has enough phones and frames to fit the
//! last linear layer of the duration predictor and of the voicing predictor.

use super::{
    clip::AlignedClip,
    frame_store::FrameStore,
    timing::{Timing, timing},
    voicing::voicing_head_delta,
};
use crate::{
    Result,
    audio::excitation::EXCITATION_WIDTH,
    model::pitch::{Contour, Intonation, PitchPredictor, SPREADS},
    voice::{Base, Prosody},
};
use burn_fused::readback::read;

impl Prosody {
    /// Measures the prosody of clips.
    ///
    /// * `store`:   the frames of the clips
    /// * `speaker`: the row of the base speaker whose durations and contours the clone follows
    pub async fn measure(
        base: &Base,
        clips: &[AlignedClip],
        store: &FrameStore,
        speaker: usize,
    ) -> Result<Self> {
        let Timing { scale: duration_scale, head_delta: duration_head_delta } =
            timing(base, clips, &base.speaker(speaker)).await?;
        let Some(predictor) = &base.model.pitch else {
            return Ok(Self { duration_scale, duration_head_delta, ..Self::from_base_speaker(None) });
        };
        let reduction = base.config().reduction;
        let mut states = Vec::with_capacity(clips.len());
        for &clip in &store.clips {
            let contexts = store.context_of(clip, reduction);
            let unexcited = contexts.dims()[2] - EXCITATION_WIDTH;
            let steps = contexts.dims()[1] / reduction;
            let hidden = predictor.hidden(contexts.narrow(2, 0, unexcited), base.speaker(speaker), &[steps]);
            let values = hidden.shape().num_elements();
            states.push(read(hidden.reshape([values])).await?);
        }
        let voicing_head_delta = voicing_head_delta(predictor, &states, clips).await?;
        let predictor = match &voicing_head_delta {
            Some(head_delta) => &predictor.with_head_delta(head_delta),
            None => predictor,
        };
        // Without voiced frames, as in a whisper, the pitch of the base is kept.
        let intonation = intonation(predictor, &states, clips).await?.or_else(|| base.intonation(speaker));
        Ok(Self { duration_scale, duration_head_delta, intonation, voicing_head_delta })
    }
}

/// The factor on the measured spread: a tracked contour is smoother than the voice, and predictions for new sentences vary less than those for the clips.
const SPREAD_FACTOR: f32 = 1.15;

/// Measures the mean and the spread of the speaker's pitch. Returns `None` if no frame is voiced.
///
/// * `predictor`: the predictor with the speaker's voicing
/// * `states`:    its states for each clip, `[N, 2 W]`
async fn intonation(
    predictor: &PitchPredictor,
    states: &[Vec<f32>],
    clips: &[AlignedClip],
) -> Result<Option<Intonation>> {
    let (mut recorded, mut predicted) = (Vec::new(), Vec::new());
    for (states, clip) in states.iter().zip(clips) {
        let output = predictor.read_out_values(states);
        let count = output.shape().num_elements();
        let contour = Contour::new(&read(output.reshape([count])).await?);
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
    // The range between quantiles is robust: octave errors of the pitch tracker would dominate a standard deviation.
    let range = |values: &mut [f32]| {
        values.sort_by(f32::total_cmp);
        values[values.len() * 9 / 10] - values[values.len() / 10]
    };
    let ratio = range(&mut recorded) / range(&mut predicted).max(1e-3);
    let spread = (SPREAD_FACTOR * ratio).clamp(*SPREADS.start(), *SPREADS.end());
    Ok(Some(Intonation { mean_hz, spread }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{clone::frame_store::assemble, text::symbols, voice::Voice};
    use burn::prelude::Device;

    /// Any multiple of the reduction.
    const WINDOW: usize = 64;

    fn prosody(base: &Base, clips: &[AlignedClip], speaker: usize) -> Prosody {
        let store = assemble(base, clips, WINDOW);
        pollster::block_on(Prosody::measure(base, clips, &store, speaker)).unwrap()
    }

    #[test]
    fn tempo_and_pitch_are_found() {
        let base = Base::open("../../models/base", &Device::flex()).unwrap();
        // The pitch of this speaker changes little from frame to frame, which no spread scales.
        let speaker = base.speakers().iter().position(|name| name == "kokoro-af_river").unwrap();
        let own = base.intonation(speaker).unwrap();
        let intonation = Some(Intonation { mean_hz: 1.2 * own.mean_hz, spread: 0.7 });
        let prosody_of_voice = Prosody { duration_scale: 1.3, ..Prosody::from_base_speaker(intonation) };
        let voice = Voice { prosody: prosody_of_voice, ..Voice::from_row(&base, speaker) };
        let texts = [
            "The ferry leaves at half past nine.",
            "Nobody expected so many people, on such a cold evening.",
        ];
        let clip = |text: &&str| pollster::block_on(AlignedClip::synthesise(&voice, text)).unwrap();
        let mut clips: Vec<AlignedClip> = texts.iter().map(clip).collect();
        let found = prosody(&base, &clips, speaker);
        assert!((found.duration_scale - 1.3).abs() < 0.02, "{}", found.duration_scale);
        let Intonation { mean_hz, spread } = found.intonation.unwrap();
        assert!((spread - 0.7 * SPREAD_FACTOR).abs() < 0.05, "{spread}");
        assert!((mean_hz / own.mean_hz - 1.2).abs() < 0.1, "{mean_hz} of {} Hz", own.mean_hz);
        clips.iter_mut().for_each(|clip| clip.foreign = true);
        let foreign = prosody(&base, &clips, speaker);
        assert!(
            (foreign.duration_scale - found.duration_scale.sqrt()).abs() < 1e-3,
            "a tempo of another language carries over in part"
        );
    }

    /// The nasals of this speaker are unvoiced.
    #[test]
    fn voicing_is_found() {
        let base = Base::open("../../models/base", &Device::flex()).unwrap();
        let speaker = base.speakers().iter().position(|name| name == "kokoro-af_alloy").unwrap();
        let plain = Voice::from_row(&base, speaker);
        let texts =
            ["Nobody knew many of the men.", "My aunt may remember none of them, and Norman no more."];
        let nasals = ["M", "N", "NG"].map(|name| symbols::Symbol::from_name(name).unwrap());
        let clip = |text: &&str| {
            let mut clip = pollster::block_on(AlignedClip::synthesise(&plain, text)).unwrap();
            let phones = clip.phones();
            let frames = clip.f0_hz.iter_mut().zip(phones);
            frames.filter(|(_, phone)| nasals.contains(phone)).for_each(|(hz, _)| *hz = 0.0);
            clip
        };
        let clips: Vec<AlignedClip> = texts.iter().map(clip).collect();
        // The penalty would dominate a few seconds.
        let minute: Vec<AlignedClip> = clips.iter().cycle().take(24).cloned().collect();
        let found = prosody(&base, &minute, speaker);
        let right = |voice: &Voice| {
            let of_clip = |clip: &AlignedClip| {
                let frames = clip.frames().next_multiple_of(base.config().reduction);
                let contexts = base.contexts(&base.encode(&clip.symbols), &clip.durations, frames);
                let head_delta = voice.prosody.voicing_head_delta.as_ref();
                let contour = base.contour_async(&contexts, &voice.timing_speaker, head_delta);
                let logits = pollster::block_on(contour).unwrap().unwrap().voicing;
                let same = |(hz, logit): &(&f32, f32)| (**hz > 0.0) == (*logit > 0.0);
                clip.f0_hz.iter().zip(logits).filter(same).count()
            };
            let frames: usize = clips.iter().map(AlignedClip::frames).sum();
            clips.iter().map(of_clip).sum::<usize>() as f32 / frames as f32
        };
        let (before, after) =
            (right(&plain), right(&Voice { prosody: found, ..Voice::from_row(&base, speaker) }));
        assert!(before < 0.8 && after > 0.87, "the voicing is right in {before} and {after} of the frames");
    }
}
