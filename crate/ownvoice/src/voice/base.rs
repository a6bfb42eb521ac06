//! The base voice: a manifest, the model's weights, a lexicon and an aligner, loaded onto one device.

use burn::prelude::*;
use std::{ops::Deref, sync::Arc};

use super::manifest::{FileEntry, Files, Manifest, check};
use crate::{
    Error, Result,
    align::ForcedAligner,
    audio::{
        excitation::{EXCITATION_WIDTH, Excitation},
        mel::MelConfig,
    },
    model::{
        Tacotron, TacotronConfig,
        head_delta::HeadDelta,
        pitch::{Contour, Intonation},
        tacotron::Symbols,
    },
    text::{
        Phonemizer,
        symbols::{Symbol, is_phone},
    },
    vocoder::{GriffinLim, NeuralVocoder, Vocoder},
};
use burn_fused::{
    Mode,
    readback::read,
    upsample::{POSITION_WIDTH, frame_positions},
    weights::{apply_all, deserialize},
};

/// Loads the vocoder of a base: Griffin-Lim where its manifest names none. Fails with `base-corrupt`.
pub fn load_vocoder(
    entry: Option<&FileEntry>,
    content: Option<&[u8]>,
    mel: &MelConfig,
) -> Result<Arc<dyn Vocoder>> {
    match (entry, content) {
        (Some(_), Some(content)) => Ok(Arc::new(NeuralVocoder::load(content, mel.clone())?)),
        (None, _) => Ok(Arc::new(GriffinLim::new(mel.clone()))),
        (Some(_), None) => Err(Error::base_corrupt("the vocoder that the manifest names is missing")),
    }
}

/// The bytes of a base, for [`Base::load`], which validates them.
#[warn(missing_docs)]
#[derive(Debug, Clone, Copy)]
pub struct BaseFiles<'a> {
    /// `manifest.json`, which names the other files and their hashes.
    pub manifest_json: &'a str,
    /// The model, as safetensors.
    pub weights: &'a [u8],
    /// The packed lexicon.
    pub lexicon: &'a [u8],
    /// The recogniser that aligns recordings, as safetensors.
    pub aligner: &'a [u8],
    /// The neural vocoder, if the manifest names one.
    pub vocoder: Option<&'a [u8]>,
}

impl BaseFiles<'_> {
    fn manifest(&self) -> Result<Manifest> {
        serde_json::from_str(self.manifest_json)
            .map_err(|error| Error::base_corrupt(format!("manifest.json: {error}")))
    }
}

/// A base voice on its device: the pretrained model of many speakers that a clone starts from.
///
/// It is opened from a folder ([`Base::open`]) or from bytes ([`Base::load`]), and its files are checked against the hashes in its manifest.
/// A `Base` is a shared reference: its clones, and the voices that are made with it, use the same model, and threads may share it.
#[warn(missing_docs)]
#[derive(Clone)]
pub struct Base(Arc<BaseParts>);

/// A sentence's symbols and their encodings, so that the encoder runs once for durations and contexts.
#[doc(hidden)]
pub struct EncodedSentence {
    pub symbols: Vec<Symbol>,
    /// The symbols on the device.
    input: Symbols,
    /// `[1, L, E]`
    encoded: Tensor<3>,
}

/// The parts of a base, which its clones share.
#[doc(hidden)]
pub struct BaseParts {
    pub manifest: Manifest,
    pub model: Tacotron,
    pub phonemizer: Phonemizer,
    pub aligner: ForcedAligner,
    /// The neural vocoder, or Griffin-Lim where the base has none.
    pub vocoder: Arc<dyn Vocoder>,
    pub device: Device,
    /// `None` where the model has no pitch.
    excitation: Option<Excitation>,
    hash: String,
}

#[doc(hidden)]
impl Deref for Base {
    type Target = BaseParts;

    fn deref(&self) -> &BaseParts {
        &self.0
    }
}

#[warn(missing_docs)]
impl Base {
    /// Checks the files and loads the base onto a device. Fails with `base-corrupt`.
    pub fn load(files: BaseFiles, device: &Device) -> Result<Self> {
        let manifest = files.manifest()?;
        let Files { weights, lexicon, aligner, vocoder, .. } = &manifest.files;
        weights.verify("weights", files.weights)?;
        lexicon.verify("lexicon", files.lexicon)?;
        aligner.verify("aligner", files.aligner)?;
        if let (Some(entry), Some(content)) = (vocoder, files.vocoder) {
            entry.verify("vocoder", content)?;
        }
        Self::build(manifest, files, device)
    }

    /// Loads files whose hashes the caller has verified. A browser hashes natively; in WebAssembly it takes half a second before the first sound.
    #[doc(hidden)]
    pub fn load_verified(files: BaseFiles, device: &Device) -> Result<Self> {
        Self::build(files.manifest()?, files, device)
    }

    fn build(manifest: Manifest, files: BaseFiles, device: &Device) -> Result<Self> {
        check(&manifest).map_err(Error::base_corrupt)?;
        let vocoder = load_vocoder(manifest.files.vocoder.as_ref(), files.vocoder, &manifest.mel)?;
        let (weights, _) = deserialize(files.weights).map_err(Error::base_corrupt)?;
        let model =
            apply_all(Tacotron::new(&manifest.model, device), weights).map_err(Error::base_corrupt)?;
        Ok(Self(Arc::new(BaseParts {
            excitation: manifest.model.pitch.then(|| Excitation::new(&manifest.mel)),
            model: model.valid(),
            phonemizer: Phonemizer::new(files.lexicon)?,
            // The aligner always runs on the CPU. It is small, and a GPU would first compile its kernels while the visitor waits for the check of a clip.
            aligner: ForcedAligner::load(files.aligner, &Device::flex())?,
            vocoder,
            device: device.clone(),
            hash: manifest.files.weights.sha256.clone(),
            manifest,
        })))
    }

    /// Returns the hash of its weights, which names the base in voice files.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns its name from the manifest.
    pub fn name(&self) -> &str {
        &self.manifest.name
    }

    /// Returns the licence of its weights from the manifest.
    pub fn licence(&self) -> &str {
        &self.manifest.licence
    }

    /// Returns the speakers that it was trained on, in the order of its speaker table.
    pub fn speakers(&self) -> &[String] {
        &self.manifest.speakers
    }

    /// Returns the sample rate of its speech, that of its vocoder. Its spectrograms are those of recordings at 16 kHz.
    pub fn sample_rate_hz(&self) -> u32 {
        self.vocoder.sample_rate_hz()
    }

    /// Whether pitch and pitch range of its speech can be changed.
    pub fn has_pitch(&self) -> bool {
        self.manifest.model.pitch
    }
}

/// Internal functions on tensors.
#[doc(hidden)]
impl Base {
    pub fn config(&self) -> &TacotronConfig {
        &self.manifest.model
    }

    pub fn mel_config(&self) -> &MelConfig {
        &self.manifest.mel
    }

    /// Returns a row of the speaker table, `[1, V]`.
    pub fn speaker(&self, index: usize) -> Tensor<2> {
        self.model.speakers.val().slice([index..index + 1])
    }

    /// Encodes the symbols of a sentence.
    pub fn encode(&self, symbols: &[Symbol]) -> EncodedSentence {
        let input = Symbols::new(&[symbols], None, &self.device);
        let encoded = self.model.encode(&input, Mode::Eval);
        EncodedSentence { symbols: symbols.to_vec(), input, encoded }
    }

    /// Returns the contexts of `frames` frames without excitation, `[1, frames, E + 4]`.
    pub fn contexts(&self, sentence: &EncodedSentence, durations: &[u32], frames: usize) -> Tensor<3> {
        let device = &self.device;
        let lengths: Vec<f32> = durations.iter().map(|&frames| frames as f32).collect();
        let times: Vec<f32> = (0..frames).map(|frame| frame as f32 + 0.5).collect();
        let positions: Vec<f32> = frame_positions(durations, 0, frames).into_iter().flatten().collect();
        self.model.upsample(
            &sentence.input,
            sentence.encoded.clone(),
            Tensor::from_data(TensorData::new(lengths, [1, sentence.symbols.len()]), device),
            Tensor::from_data(TensorData::new(times, [1, frames]), device),
            Tensor::from_data(TensorData::new(positions, [1, frames, POSITION_WIDTH]), device),
        )
    }

    /// Predicts the natural logarithm of each symbol's duration in frames.
    ///
    /// * `speaker`:    `[1, V]`, the speaker whose timing is followed
    /// * `head_delta`: another speaker's correction of the durations of phones; pauses are not corrected
    pub async fn log_durations_async(
        &self,
        sentence: &EncodedSentence,
        speaker: &Tensor<2>,
        head_delta: Option<&HeadDelta>,
    ) -> Result<Vec<f32>> {
        let (predictor, symbols) = (&self.model.durations, &sentence.symbols);
        let count = symbols.len();
        let states = self.timing_states(sentence, speaker);
        let plain = predictor.read_out(states.clone()).reshape([count]);
        let Some(head_delta) = head_delta else { return Ok(read(plain).await?) };
        let corrected = predictor.with_head_delta(head_delta).read_out(states).reshape([count]);
        let both = read(Tensor::cat(vec![plain, corrected], 0)).await?;
        let of_symbol = |at: usize| both[if is_phone(symbols[at]) { count + at } else { at }];
        Ok((0..count).map(of_symbol).collect())
    }

    /// Returns the hidden states of the duration predictor, `[1, L, 2 W]`.
    ///
    /// * `speaker`: `[1, V]`
    pub fn timing_states(&self, sentence: &EncodedSentence, speaker: &Tensor<2>) -> Tensor<3> {
        self.model.durations.hidden(sentence.encoded.clone(), speaker.clone(), &sentence.input.lengths)
    }

    /// Predicts the contour of a sentence; `None` where the model has no pitch.
    ///
    /// * `contexts`:   `[1, T, E + 4]`
    /// * `speaker`:    `[1, V]`, the speaker whose contour is followed
    /// * `head_delta`: another speaker's correction of the voicing
    pub async fn contour_async(
        &self,
        contexts: &Tensor<3>,
        speaker: &Tensor<2>,
        head_delta: Option<&HeadDelta>,
    ) -> Result<Option<Contour>> {
        let Some(predictor) = &self.model.pitch else { return Ok(None) };
        let frames = contexts.dims()[1];
        let lengths = &[frames / self.config().reduction];
        let predicted = match head_delta {
            Some(head_delta) => {
                predictor.with_head_delta(head_delta).forward(contexts.clone(), speaker.clone(), lengths)
            }
            None => predictor.forward(contexts.clone(), speaker.clone(), lengths),
        };
        Ok(Some(Contour::new(&read(predicted.reshape([2 * frames])).await?)))
    }

    /// Returns the parts, to change them in a test. No clone of the base may exist.
    #[cfg(test)]
    pub(crate) fn parts_mut(&mut self) -> &mut BaseParts {
        Arc::get_mut(&mut self.0).expect("the base has no clone")
    }

    /// Returns the intonation of a speaker of the base; `None` where the model has no pitch.
    pub fn intonation(&self, speaker: usize) -> Option<Intonation> {
        self.manifest.mean_pitches_hz.get(speaker).map(|&mean_hz| Intonation { mean_hz, spread: 1.0 })
    }

    /// Appends the excitation to contexts, which gives `[1, T, C]`; returns them unchanged where the model has no pitch.
    ///
    /// * `contexts`: `[1, T, E + 4]`
    /// * `f0_hz`:    up to T pitches, 0 where unvoiced; frames without one are unvoiced
    pub fn with_excitation(&self, contexts: Tensor<3>, f0_hz: &[f32]) -> Tensor<3> {
        let Some(excitation) = &self.excitation else { return contexts };
        let frames = contexts.dims()[1];
        let values: Vec<f32> = (0..frames)
            .flat_map(|frame| excitation.frame(f0_hz.get(frame).copied().unwrap_or(0.0)))
            .collect();
        Tensor::cat(
            vec![
                contexts,
                Tensor::from_data(TensorData::new(values, [1, frames, EXCITATION_WIDTH]), &self.device),
            ],
            2,
        )
    }

    /// Returns the row of the default speaker.
    pub fn default_speaker(&self) -> usize {
        self.manifest.speakers.iter().position(|name| *name == self.manifest.default_speaker).unwrap_or(0)
    }
}
