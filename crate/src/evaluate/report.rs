//! A voice against recordings of its speaker: every figure of `ownvoice evaluate`, similarities between their anchors.
//!
//! One long file: the figures share the speech that they are measured on.

use serde_json::{Map, Value, json};
use std::rc::Rc;

use super::{
    Difference,
    artefacts::Artefacts,
    difference,
    encoder::{SpeakerEmbedding, SpeakerVerifier},
    faults::{Fault, Spoken, faults, runs},
    speaker::{SpeakerStats, distance, similarity},
    speaking_rate::SpeakingRate,
};
use crate::{
    Error, Result,
    align::{Alignment, PhonemeErrors, edits, said},
    audio::{mel::MelExtractor, pitch, prepare_clip},
    model::StopReason,
    synth::{
        SpeakOptions, Speech,
        speak::{copy_prosody, sound},
        speak_async, speak_attentive_async,
    },
    text::{spell, symbols},
    train::{
        Clip,
        adapt::{AdaptConfig, Spoken as Aligned, adapt},
    },
    vocoder::Vocoder,
    voice::{AttentiveVoice, Base, Voice},
};

/// Somebody, by both measures of similarity.
#[derive(Default)]
pub struct Identity {
    pub stats: SpeakerStats,
    /// `None` without a speaker encoder.
    pub vector: Option<SpeakerEmbedding>,
}

impl Identity {
    /// * `clips`: at `sample_rate_hz`
    pub fn of(clips: &[Vec<f32>], sample_rate_hz: u32, verifier: Option<&SpeakerVerifier>) -> Result<Self> {
        let mut stats = SpeakerStats::default();
        let mut vectors = Vec::new();
        for clip in clips {
            stats.merge(&SpeakerStats::from_audio(clip, sample_rate_hz)?);
            vectors.extend(verifier.map(|verifier| verifier.embed(clip, sample_rate_hz)).transpose()?);
        }
        Ok(Self { stats, vector: SpeakerEmbedding::mean(&vectors) })
    }

    pub fn similarity(&self, other: &Self) -> Similarity {
        let encoder = self.vector.as_ref().zip(other.vector.as_ref()).map(|(a, b)| a.similarity(b));
        Similarity { statistics: similarity(&self.stats, &other.stats), encoder }
    }
}

/// The similarity of two identities, by both measures.
#[derive(Debug, Clone, Copy)]
pub struct Similarity {
    /// 0 to 1, by cepstral and pitch statistics.
    pub statistics: f32,
    /// The cosine of the speaker encoder's vectors, where there is one.
    pub encoder: Option<f32>,
}

/// What was measured of one voice over all sentences.
#[derive(Default)]
pub struct Measured {
    pub identity: Identity,
    /// Means over the sentences, against recordings of the same; zero for sentences that were not recorded.
    pub mcd_db: f32,
    pub logf0_rmse: f32,
    pub voicing_error: f32,
    pub phonemes: PhonemeErrors,
    /// Phones of the text that were dropped, and phones that were added.
    pub dropped: usize,
    pub added: usize,
    /// Phones that sound three times as long, or as short, as they were meant to.
    pub duration_outliers: usize,
    pub artefacts: Vec<Artefacts>,
    /// A list a sentence.
    pub faults: Vec<Vec<Fault>>,
    /// A clip a sentence.
    pub clips: Vec<Vec<f32>>,
}

impl Measured {
    pub fn phoneme_error_rate(&self) -> f32 {
        self.phonemes.rate()
    }

    /// Sentences with this fault.
    pub fn with_fault(&self, fault: Fault) -> usize {
        self.faults.iter().filter(|faults| faults.contains(&fault)).count()
    }
}

/// What is measured: a voice of the base, or one that finds its own way, in our own symbols and in the base's spectrograms.
#[derive(Clone, Copy)]
pub enum Says<'a> {
    Voice(&'a Voice),
    Attentive(&'a AttentiveVoice),
}

impl<'a> From<&'a Voice> for Says<'a> {
    fn from(voice: &'a Voice) -> Self {
        Self::Voice(voice)
    }
}

/// Recordings of a speaker, and what a voice is measured by against them.
pub struct Evaluation<'a> {
    base: &'a Base,
    verifier: Option<&'a SpeakerVerifier>,
    /// The base's own, unless another is put here.
    pub vocoder: Rc<dyn Vocoder>,
    extractor: MelExtractor,
    /// Texts and recordings that are synthesised.
    said: Vec<(String, Vec<f32>)>,
    pub target: Identity,
    pub same_speaker: Identity,
    pub others: Vec<Vec<f32>>,
    speaking_rate: SpeakingRate,
}

/// A phone that sounds longer or shorter than meant by this factor, and by at least so many frames, is an outlier.
const OUTLIER_FACTOR: f32 = 3.0;
const OUTLIER_FRAMES: u32 = 6;

impl<'a> Evaluation<'a> {
    /// The last `sentences` of `clips` are spoken again: clones learn from the first. Fails with fewer than four clips.
    pub async fn new(
        base: &'a Base,
        verifier: Option<&'a SpeakerVerifier>,
        clips: &[Clip],
        sentences: usize,
    ) -> Result<Self> {
        if clips.len() < 4 {
            return Err(Error::corpus_invalid("an evaluation needs at least four recordings"));
        }
        let rate_hz = base.mel_config().sample_rate_hz;
        let prepared = |clip: &Clip| prepare_clip(&clip.audio, base.mel_config());
        let (others, again) = clips.split_at(clips.len() - sentences.clamp(2, clips.len() / 2));
        let others = others.iter().map(prepared).collect::<Result<Vec<_>>>()?;
        let recordings = again.iter().map(prepared).collect::<Result<Vec<_>>>()?;
        let texts = again.iter().map(|clip| clip.text.clone());
        let extractor = MelExtractor::new(base.mel_config().clone());
        let mut alignments = Vec::new();
        for (text, recording) in texts.clone().zip(&recordings) {
            let (symbols, word_ends) = spell(&base.phonemizer.words(&text)?);
            alignments
                .push(base.aligner.align_anyway(&extractor.extract(recording), &symbols, &word_ends).await?);
        }
        Ok(Self {
            base,
            verifier,
            vocoder: base.vocoder.clone(),
            extractor,
            target: Identity::of(&recordings, rate_hz, verifier)?,
            same_speaker: Identity::of(&others, rate_hz, verifier)?,
            said: texts.zip(recordings).collect(),
            others,
            speaking_rate: SpeakingRate::of(
                alignments.iter().map(|found| (found.symbols.as_slice(), found.durations.as_slice())),
            ),
        })
    }

    pub fn recordings(&self) -> &[(String, Vec<f32>)] {
        &self.said
    }

    /// Speaks the recordings' texts and compares.
    pub async fn measure<'v>(&self, voice: impl Into<Says<'v>>) -> Result<Measured> {
        let voice = voice.into();
        let mut measured = Measured::default();
        for (text, recording) in &self.said {
            self.say(voice, text, &mut measured).await?;
            let made = measured.clips.last().expect("it was just said");
            let Difference { mcd_db, logf0_rmse, voicing_error } =
                difference(recording, made, self.rate_hz())?;
            let count = self.said.len() as f32;
            measured.mcd_db += mcd_db / count;
            measured.logf0_rmse += logf0_rmse / count;
            measured.voicing_error += voicing_error / count;
        }
        self.identified(measured)
    }

    /// Speaks the recordings' texts with their own timing and pitch: what remains is lost by the spectra, not by the prosody.
    pub async fn measure_with_own_prosody(&self, voice: &Voice) -> Result<Measured> {
        let base = self.base;
        let config = base.mel_config();
        let mut spelled = Vec::new();
        for (text, recording) in &self.said {
            let (symbols, word_ends) = spell(&base.phonemizer.words(text)?);
            let f0_hz = pitch::track(recording, config.sample_rate_hz, config.hop_length).f0_hz;
            spelled.push((self.extractor.extract(recording), symbols, word_ends, f0_hz));
        }
        let recordings: Vec<Aligned> =
            spelled.iter().map(|(mel, symbols, word_ends, _)| Aligned { mel, symbols, word_ends }).collect();
        let aligner = adapt(&base.aligner, &recordings, &AdaptConfig::default()).await?;
        let mut measured = Measured::default();
        for ((text, _), (mel, symbols, word_ends, f0_hz)) in self.said.iter().zip(&spelled) {
            let Alignment { symbols, durations, .. } = aligner.align_anyway(mel, symbols, word_ends).await?;
            let copied = copy_prosody(base, voice, &symbols, &durations, f0_hz).await?;
            let samples = sound(&copied, config, &*self.vocoder);
            self.listen(text, samples, None, &mut measured).await?;
        }
        self.identified(measured)
    }

    /// Speaks texts that nobody recorded.
    pub async fn measure_texts<'v>(&self, voice: impl Into<Says<'v>>, texts: &[&str]) -> Result<Measured> {
        let voice = voice.into();
        let mut measured = Measured::default();
        for text in texts {
            self.say(voice, text, &mut measured).await?;
        }
        self.identified(measured)
    }

    /// The recordings themselves by the same measures: the error of the recogniser and the encoder on real speech.
    pub async fn measure_recordings(&self) -> Result<Measured> {
        self.measure_clips(&self.said).await
    }

    /// The recordings made again from their spectrograms: what the vocoder alone costs.
    pub async fn measure_copies(&self) -> Result<Measured> {
        let copy = |(text, recording): &(String, Vec<f32>)| {
            (text.clone(), self.vocoder.vocode(&self.extractor.extract(recording)))
        };
        self.measure_clips(&self.said.iter().map(copy).collect::<Vec<_>>()).await
    }

    /// Clips of any origin, each with its text.
    pub async fn measure_clips(&self, clips: &[(String, Vec<f32>)]) -> Result<Measured> {
        let mut measured = Measured::default();
        for (text, samples) in clips {
            self.listen(text, samples.clone(), None, &mut measured).await?;
        }
        self.identified(measured)
    }

    fn identified(&self, mut measured: Measured) -> Result<Measured> {
        measured.identity = Identity::of(&measured.clips, self.rate_hz(), self.verifier)?;
        Ok(measured)
    }

    fn rate_hz(&self) -> u32 {
        self.base.mel_config().sample_rate_hz
    }

    /// A speaker of the base, saying the first two texts.
    async fn base_speaker(&self, index: usize) -> Result<Identity> {
        let voice = Voice::of_base_speaker(self.base, index);
        let mut clips = Vec::new();
        for (text, _) in &self.said[..2] {
            clips.push(self.speak(Says::Voice(&voice), text).await?.samples);
        }
        Identity::of(&clips, self.rate_hz(), self.verifier)
    }

    async fn speak(&self, voice: Says<'_>, text: &str) -> Result<Speech> {
        let (options, vocoder) = (SpeakOptions::default(), &*self.vocoder);
        match voice {
            Says::Voice(voice) => {
                speak_async(self.base, voice, text, &options, vocoder, async |_, _| true).await
            }
            Says::Attentive(voice) => {
                speak_attentive_async(voice, &self.base.phonemizer, text, &options, vocoder, async |_, _| {
                    true
                })
                .await
            }
        }
    }

    async fn say(&self, voice: Says<'_>, text: &str, measured: &mut Measured) -> Result<()> {
        let speech = self.speak(voice, text).await?;
        let phones =
            speech.symbols.iter().zip(&speech.durations).filter(|(symbol, _)| symbols::is_phone(**symbol));
        let meant: Vec<u32> = phones.map(|(_, &frames)| frames).collect();
        self.listen(text, speech.samples, Some((&meant, speech.stop)), measured).await
    }

    /// * `meant`: frames of each phone as synthesis chose them, and how it ended
    async fn listen(
        &self,
        text: &str,
        samples: Vec<f32>,
        meant: Option<(&[u32], StopReason)>,
        measured: &mut Measured,
    ) -> Result<()> {
        let (base, config) = (self.base, self.base.mel_config());
        let mel = self.extractor.extract(&samples);
        let (symbols, word_ends) = spell(&base.phonemizer.words(text)?);
        let (recognised, said) = (base.aligner.transcribe(&mel).await?, said(&symbols));
        let alignment = base.aligner.align_anyway(&mel, &symbols, &word_ends).await?;
        let phones = alignment
            .symbols
            .iter()
            .zip(&alignment.durations)
            .filter(|(symbol, _)| symbols::is_phone(**symbol));
        let phone_frames: Vec<u32> = phones.map(|(_, &frames)| frames).collect();
        let runs = runs(&said, &recognised);
        measured.phonemes += PhonemeErrors { errors: edits(&recognised, &said).count, length: said.len() };
        measured.dropped += runs.iter().map(|run| run.dropped).sum::<usize>();
        measured.added += runs.iter().map(|run| run.added).sum::<usize>();
        if let Some((meant, _)) = meant.filter(|(meant, _)| meant.len() == phone_frames.len()) {
            measured.duration_outliers +=
                meant.iter().zip(&phone_frames).filter(|(a, b)| is_outlier(**a, **b)).count();
        }
        let artefacts = Artefacts::of(&samples, config.sample_rate_hz);
        measured.faults.push(faults(&Spoken {
            said: &said,
            recognised: &recognised,
            phone_frames: &phone_frames,
            expected_frames: self.speaking_rate.expects(&symbols),
            frames: mel.frames(),
            cut_off: meant.is_some_and(|(_, stop)| stop == StopReason::MaxFrames),
            pitch: &pitch::track(&samples, config.sample_rate_hz, config.hop_length),
            artefacts: &artefacts,
            frame_seconds: config.frame_seconds(),
        }));
        measured.artefacts.push(artefacts);
        measured.clips.push(samples);
        Ok(())
    }

    /// Similarities of the base's own speakers to the target, speakers made of others left out: means.
    pub async fn other_speakers(&self) -> Result<Similarity> {
        let names = &self.base.manifest.speakers;
        let (mut statistics, mut encoder, mut count) = (0.0, 0.0, 0);
        for index in (0..names.len()).filter(|&index| !names[index].contains('@')) {
            let one = self.base_speaker(index).await?.similarity(&self.target);
            statistics += one.statistics;
            encoder += one.encoder.unwrap_or(0.0);
            count += 1;
        }
        let count = count.max(1) as f32;
        Ok(Similarity { statistics: statistics / count, encoder: self.verifier.map(|_| encoder / count) })
    }

    /// All figures by name, of a voice or of the base alone.
    pub async fn figures(&self, clone: &Measured, unadapted: &Measured) -> Result<Map<String, Value>> {
        let recordings = self.measure_recordings().await?;
        let others = self.other_speakers().await?;
        let target = &self.target;
        let (same, of_clone, of_base) = (
            self.same_speaker.similarity(target),
            clone.identity.similarity(target),
            unadapted.identity.similarity(target),
        );
        let share = |count: usize| count as f32 / clone.phonemes.length.max(1) as f32;
        let (artefacts, recorded) =
            (Artefacts::mean(&clone.artefacts), Artefacts::mean(&recordings.artefacts));
        let mut figures = json!({
            "similarity.clone": of_clone.statistics,
            "similarity.same_speaker": same.statistics,
            "similarity.other_speakers": others.statistics,
            "similarity.base": of_base.statistics,
            "distance.clone": distance(&clone.identity.stats, &target.stats),
            "distance.base": distance(&unadapted.identity.stats, &target.stats),
            "distance.same_speaker": distance(&self.same_speaker.stats, &target.stats),
            "pitch_hz.target": target.stats.mean_f0_hz(),
            "pitch_hz.clone": clone.identity.stats.mean_f0_hz(),
            "pitch_hz.base": unadapted.identity.stats.mean_f0_hz(),
            "mcd_db": clone.mcd_db,
            "mcd_db.base": unadapted.mcd_db,
            "logf0_rmse": clone.logf0_rmse,
            "voicing_error": clone.voicing_error,
            "phoneme_error_rate": clone.phoneme_error_rate(),
            "phoneme_error_rate.base": unadapted.phoneme_error_rate(),
            "phoneme_error_rate.recordings": recordings.phoneme_error_rate(),
            "phonemes_dropped": share(clone.dropped),
            "phonemes_added": share(clone.added),
            "duration_outliers": share(clone.duration_outliers),
            "clipped_share": artefacts.clipped_share,
            "offset": artefacts.offset,
            "pause_level_db": artefacts.pause_level_db,
            "pause_level_db.recordings": recorded.pause_level_db,
            "pause_flatness": artefacts.pause_flatness,
            "pause_flatness.recordings": recorded.pause_flatness,
        });
        let of_encoder = [
            ("speaker_encoder.clone", of_clone.encoder),
            ("speaker_encoder.same_speaker", same.encoder),
            ("speaker_encoder.other_speakers", others.encoder),
            ("speaker_encoder.base", of_base.encoder),
        ];
        let figures = figures.as_object_mut().expect("an object");
        figures.extend(
            of_encoder.into_iter().filter_map(|(name, value)| Some((name.to_string(), json!(value?)))),
        );
        Ok(std::mem::take(figures))
    }
}

fn is_outlier(meant: u32, measured: u32) -> bool {
    let (short, long) = (meant.min(measured), meant.max(measured));
    long >= short + OUTLIER_FRAMES && long as f32 > OUTLIER_FACTOR * short as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_are_far_off_by_share_and_by_frames() {
        assert!(is_outlier(3, 12) && is_outlier(12, 3));
        assert!(!is_outlier(1, 5), "a few frames are nothing");
        assert!(!is_outlier(20, 40));
    }
}
