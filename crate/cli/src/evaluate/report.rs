//! The evaluation of a voice against recordings of its speaker: every figure of `ownvoice evaluate`.

use serde_json::{Map, Value, json};

use super::{
    Difference,
    artefacts::Artefacts,
    difference,
    faults::{SpokenSentence, faults, runs},
    measured::{Identity, Measured, Similarity},
    speaking_rate::SpeakingRate,
};
use crate::speaker_encoder::verifier::SpeakerVerifier;
use ownvoice::{
    Error, Result,
    align::{
        Alignment, PhonemeErrors,
        adapt::{AdaptConfig, AdaptationClip as Aligned, adapt},
        edits, said,
    },
    audio::{Audio, mel::MelExtractor, pitch, prepare_clip, resample::resample, speaker::distance},
    clone::clip::Clip,
    model::StopReason,
    synth::{SpeakOptions, Speech, sentence::copy_prosody, speak::sound, speak_async},
    text::{symbols, to_symbols},
    voice::{Base, Voice},
};

/// The evaluation of voices against the recordings of one speaker.
pub struct Evaluation<'a> {
    base: &'a Base,
    verifier: Option<&'a SpeakerVerifier>,
    extractor: MelExtractor,
    /// The texts that are synthesised, and their recordings.
    said: Vec<(String, Audio)>,
    /// The identity of the recordings whose texts are synthesised.
    pub target: Identity,
    /// The identity of the speaker's other recordings.
    pub same_speaker: Identity,
    /// The other recordings.
    pub others: Vec<Audio>,
    speaking_rate: SpeakingRate,
}

/// The number of other speakers that a target is compared with.
const MAX_OTHER_SPEAKERS: usize = 24;
/// The least ratio of an outlier's measured and synthesised durations.
const OUTLIER_FACTOR: f32 = 3.0;
/// The least difference of an outlier's durations, in frames.
const OUTLIER_FRAMES: u32 = 6;

impl<'a> Evaluation<'a> {
    /// Prepares an evaluation. The last `sentences` of `clips` are synthesised, because clones learn from the first. Fails with fewer than four clips.
    pub async fn new(
        base: &'a Base,
        verifier: Option<&'a SpeakerVerifier>,
        clips: &[Clip],
        sentences: usize,
    ) -> Result<Self> {
        if clips.len() < 4 {
            return Err(Error::corpus_invalid("an evaluation needs at least four recordings"));
        }
        let sample_rate_hz = base.mel_config().sample_rate_hz;
        let prepared = |(index, clip): (usize, &Clip)| {
            let samples =
                prepare_clip(&clip.audio, base.mel_config()).map_err(|error| error.in_clip(index))?;
            Ok(Audio { samples, sample_rate_hz })
        };
        let mut others = clips.iter().enumerate().map(prepared).collect::<Result<Vec<_>>>()?;
        let again = &clips[clips.len() - sentences.clamp(2, clips.len() / 2)..];
        let recordings = others.split_off(clips.len() - again.len());
        let texts = again.iter().map(|clip| clip.text.clone());
        let extractor = MelExtractor::new(base.mel_config().clone());
        let mut alignments = Vec::new();
        for (text, recording) in texts.clone().zip(&recordings) {
            let (symbols, word_ends) = to_symbols(&base.phonemizer.words(&text)?);
            alignments.push(
                base.aligner
                    .align_unchecked(&extractor.extract(&recording.samples), &symbols, &word_ends)
                    .await?,
            );
        }
        Ok(Self {
            base,
            verifier,
            extractor,
            target: Identity::from_clips(&recordings, verifier)?,
            same_speaker: Identity::from_clips(&others, verifier)?,
            said: texts.zip(recordings).collect(),
            others,
            speaking_rate: SpeakingRate::measure(
                alignments.iter().map(|found| (found.symbols.as_slice(), found.durations.as_slice())),
            ),
        })
    }

    /// Returns the synthesised texts and their recordings.
    pub fn recordings(&self) -> &[(String, Audio)] {
        &self.said
    }

    /// Synthesises the recordings' texts and compares them with the recordings.
    pub async fn measure(&self, voice: &Voice) -> Result<Measured> {
        let mut measured = Measured::default();
        for (text, recording) in &self.said {
            self.say(voice, text, &mut measured).await?;
            let made = measured.clips.last().expect("a clip was just added");
            let Difference { mcd_db, logf0_rmse, voicing_error } = difference(recording, made)?;
            let count = self.said.len() as f32;
            measured.mcd_db += mcd_db / count;
            measured.logf0_rmse += logf0_rmse / count;
            measured.voicing_error += voicing_error / count;
        }
        self.identified(measured)
    }

    /// Synthesises the recordings' texts with their own timing and pitch, which isolates the error of the spectra from that of the prosody.
    pub async fn measure_with_own_prosody(&self, voice: &Voice) -> Result<Measured> {
        let base = self.base;
        let config = base.mel_config();
        let mut spelled = Vec::new();
        for (text, recording) in &self.said {
            let (symbols, word_ends) = to_symbols(&base.phonemizer.words(text)?);
            let f0_hz = pitch::track(&recording.samples, config.sample_rate_hz, config.hop_length).f0_hz;
            spelled.push((self.extractor.extract(&recording.samples), symbols, word_ends, f0_hz));
        }
        let recordings: Vec<Aligned> =
            spelled.iter().map(|(mel, symbols, word_ends, _)| Aligned { mel, symbols, word_ends }).collect();
        let aligner = adapt(&base.aligner, &recordings, &AdaptConfig::default()).await?;
        let mut measured = Measured::default();
        for ((text, _), (mel, symbols, word_ends, f0_hz)) in self.said.iter().zip(&spelled) {
            let Alignment { symbols, durations, .. } =
                aligner.align_unchecked(mel, symbols, word_ends).await?;
            let copied = copy_prosody(voice, &symbols, &durations, f0_hz).await?;
            let (samples, sample_rate_hz) = (sound(&copied, config, &*base.vocoder), base.sample_rate_hz());
            self.listen(text, Audio { samples, sample_rate_hz }, None, &mut measured).await?;
        }
        self.identified(measured)
    }

    /// Synthesises texts without recordings.
    pub async fn measure_texts(&self, voice: &Voice, texts: &[&str]) -> Result<Measured> {
        let mut measured = Measured::default();
        for text in texts {
            self.say(voice, text, &mut measured).await?;
        }
        self.identified(measured)
    }

    /// Measures the recordings themselves, which gives the error of the recogniser and the encoder on real speech.
    pub async fn measure_recordings(&self) -> Result<Measured> {
        self.measure_clips(&self.said).await
    }

    /// Measures clips of any origin, each with its text.
    pub async fn measure_clips(&self, clips: &[(String, Audio)]) -> Result<Measured> {
        let mut measured = Measured::default();
        for (text, audio) in clips {
            self.listen(text, audio.clone(), None, &mut measured).await?;
        }
        self.identified(measured)
    }

    fn identified(&self, mut measured: Measured) -> Result<Measured> {
        measured.identity = Identity::from_clips(&measured.clips, self.verifier)?;
        Ok(measured)
    }

    /// Returns the identity of a speaker of the base, from the first two texts.
    async fn base_speaker(&self, index: usize) -> Result<Identity> {
        let voice = Voice::from_base_speaker(self.base, index).expect("the index is a row of the base");
        let mut clips = Vec::new();
        for (text, _) in &self.said[..2] {
            clips.push(audio(self.speak(&voice, text).await?));
        }
        Identity::from_clips(&clips, self.verifier)
    }

    async fn speak(&self, voice: &Voice, text: &str) -> Result<Speech> {
        let (options, vocoder) = (SpeakOptions::default(), &*self.base.vocoder);
        speak_async(voice, text, &options, vocoder, async |_, _| true).await
    }

    async fn say(&self, voice: &Voice, text: &str, measured: &mut Measured) -> Result<()> {
        let speech = self.speak(voice, text).await?;
        let phones =
            speech.symbols.iter().zip(&speech.durations).filter(|(symbol, _)| symbols::is_phone(**symbol));
        let intended: Vec<u32> = phones.map(|(_, &frames)| frames).collect();
        let stop = speech.stop;
        self.listen(text, audio(speech), Some((&intended, stop)), measured).await
    }

    /// Measures one sentence.
    ///
    /// * `intended`: the frames of each phone in synthesis, and the reason for its end
    async fn listen(
        &self,
        text: &str,
        audio: Audio,
        intended: Option<(&[u32], StopReason)>,
        measured: &mut Measured,
    ) -> Result<()> {
        let (base, config) = (self.base, self.base.mel_config());
        let samples = resample(&audio.samples, audio.sample_rate_hz, config.sample_rate_hz)?;
        let mel = self.extractor.extract(&samples);
        let (symbols, word_ends) = to_symbols(&base.phonemizer.words(text)?);
        let (recognised, said) = (base.aligner.transcribe(&mel).await?, said(&symbols));
        let alignment = base.aligner.align_unchecked(&mel, &symbols, &word_ends).await?;
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
        if let Some((frames, _)) = intended.filter(|(frames, _)| frames.len() == phone_frames.len()) {
            measured.duration_outliers +=
                frames.iter().zip(&phone_frames).filter(|(a, b)| is_outlier(**a, **b)).count();
        }
        let artefacts = Artefacts::measure(&samples, config.sample_rate_hz);
        measured.faults.push(faults(&SpokenSentence {
            said: &said,
            recognised: &recognised,
            phone_frames: &phone_frames,
            expected_frames: self.speaking_rate.expects(&symbols),
            frames: mel.frames(),
            cut_off: intended.is_some_and(|(_, stop)| stop == StopReason::MaxFrames),
            pitch: &pitch::track(&samples, config.sample_rate_hz, config.hop_length),
            artefacts: &artefacts,
            frame_seconds: config.frame_seconds(),
        }));
        measured.artefacts.push(artefacts);
        measured.clips.push(audio);
        Ok(())
    }

    /// Returns the mean similarity of some of the base's own speakers to the target, without speakers that are perturbations of others.
    pub async fn other_speakers(&self) -> Result<Similarity> {
        let names = &self.base.manifest.speakers;
        let speakers: Vec<usize> = (0..names.len()).filter(|&index| !names[index].contains('@')).collect();
        let (mut statistics, mut encoder, mut count) = (0.0, 0.0, 0);
        for &index in speakers.iter().step_by(speakers.len().div_ceil(MAX_OTHER_SPEAKERS).max(1)) {
            let one = self.base_speaker(index).await?.similarity(&self.target);
            statistics += one.statistics;
            encoder += one.encoder.unwrap_or(0.0);
            count += 1;
        }
        let count = count.max(1) as f32;
        Ok(Similarity { statistics: statistics / count, encoder: self.verifier.map(|_| encoder / count) })
    }

    /// Returns all figures of a clone, by name.
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

fn audio(speech: Speech) -> Audio {
    Audio { samples: speech.samples, sample_rate_hz: speech.sample_rate_hz }
}

fn is_outlier(intended: u32, measured: u32) -> bool {
    let (short, long) = (intended.min(measured), intended.max(measured));
    long >= short + OUTLIER_FRAMES && long as f32 > OUTLIER_FACTOR * short as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_differ_by_ratio_and_by_frames() {
        assert!(is_outlier(3, 12) && is_outlier(12, 3));
        assert!(!is_outlier(1, 5), "the difference is too small");
        assert!(!is_outlier(20, 40));
    }
}
