//! The base voice: a manifest, the model's weights, a lexicon and an aligner, loaded onto one device.

use burn::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{ops::Deref, sync::Arc};

use crate::{
    Error, Result,
    align::ForcedAligner,
    audio::{
        excitation::{EXCITATION_WIDTH, Excitation},
        mel::MelConfig,
        pitch::{MAX_PITCH_HZ, MIN_PITCH_HZ},
    },
    model::{
        Tacotron, TacotronConfig,
        head_delta::HeadDelta,
        pitch::{Contour, Intonation},
        tacotron::Symbols,
    },
    text::{
        Phonemizer,
        symbols::{self, Symbol, is_phone},
    },
    vocoder::{GriffinLim, NeuralVocoder, Vocoder},
};
use burn_fused::{
    Mode,
    readback::read,
    upsample::{POSITION_WIDTH, frame_positions},
    weights::{apply_all, deserialize},
};

/// One file of a base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Relative to the manifest.
    pub path: String,
    pub bytes: usize,
    pub sha256: String,
}

impl FileEntry {
    pub fn new(path: &str, content: &[u8]) -> Self {
        Self { path: path.to_string(), bytes: content.len(), sha256: sha256_hex(content) }
    }

    /// Fails with `base-corrupt` where the content has another hash.
    pub fn verify(&self, name: &str, content: &[u8]) -> Result<()> {
        if sha256_hex(content) != self.sha256 {
            return Err(Error::base_corrupt(format!("the {name} are not those that the manifest names")));
        }
        Ok(())
    }
}

/// The vocoder of a base, Griffin-Lim where its manifest names none. Fails with `base-corrupt`.
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Files {
    pub weights: FileEntry,
    pub lexicon: FileEntry,
    pub aligner: FileEntry,
    /// A base without one speaks through Griffin-Lim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vocoder: Option<FileEntry>,
    /// The speaker encoder of `ownvoice evaluate`; synthesis and cloning do not use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker_encoder: Option<FileEntry>,
}

/// `manifest.json`: what the base is, how it was made and how well it speaks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub name: String,
    pub licence: String,
    pub files: Files,
    pub model: TacotronConfig,
    pub mel: MelConfig,
    /// Version of the symbol table that the model was trained with.
    pub symbols: String,
    /// Rows of the speaker table.
    pub speakers: Vec<String>,
    /// Geometric mean of each speaker's pitch; empty where the model has no pitch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mean_pitches_hz: Vec<f32>,
    /// Speakers that are people, and those made from recordings of people; the others are engines' voices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<String>,
    /// Who speaks when nobody was cloned.
    pub default_speaker: String,
    /// Engine voices that no training saw.
    pub held_out: Vec<String>,
    /// How it was trained, and on what.
    pub recipe: serde_json::Value,
    /// What was measured of it, by name.
    pub quality: serde_json::Value,
}

/// The bytes of a base, for [`Base::load`]. They come over the network or from a disk: everything is validated.
#[warn(missing_docs)]
#[derive(Debug, Clone, Copy)]
pub struct BaseFiles<'a> {
    /// `manifest.json`, which names the other files and their hashes.
    pub manifest_json: &'a str,
    /// The model, as safetensors.
    pub weights: &'a [u8],
    /// The lexicon, packed.
    pub lexicon: &'a [u8],
    /// The recogniser that aligns recordings, as safetensors.
    pub aligner: &'a [u8],
    /// The neural vocoder, where the manifest names one.
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

    /// As [`Self::load`], of files whose hashes the caller has compared: a browser hashes natively, WebAssembly for half a second before the first sound.
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
            // On the CPU whatever the device: it is small, and a graphics card would first compile its kernels while a visitor waits for a verdict.
            aligner: ForcedAligner::load(files.aligner, &Device::flex())?,
            vocoder,
            device: device.clone(),
            hash: manifest.files.weights.sha256.clone(),
            manifest,
        })))
    }

    /// Names the base in voice files: the hash of its weights.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Its name, as the manifest gives it.
    pub fn name(&self) -> &str {
        &self.manifest.name
    }

    /// The licence of its weights, as the manifest gives it.
    pub fn licence(&self) -> &str {
        &self.manifest.licence
    }

    /// The speakers that it was trained on, in the order of its speaker table.
    pub fn speakers(&self) -> &[String] {
        &self.manifest.speakers
    }

    /// The rate of its speech.
    pub fn sample_rate_hz(&self) -> u32 {
        self.manifest.mel.sample_rate_hz
    }

    /// Whether pitch and liveliness of its speech can be changed.
    pub fn has_pitch(&self) -> bool {
        self.manifest.model.pitch
    }
}

/// Tensors, for the rooms of this project.
#[doc(hidden)]
impl Base {
    pub fn config(&self) -> &TacotronConfig {
        &self.manifest.model
    }

    pub fn mel_config(&self) -> &MelConfig {
        &self.manifest.mel
    }

    /// A row of the speaker table, `[1, V]`.
    pub fn speaker(&self, index: usize) -> Tensor<2> {
        self.model.speakers.val().slice([index..index + 1])
    }

    /// The context of each of `frames` frames, `[1, frames, C]`.
    pub fn contexts(&self, symbols: &[Symbol], durations: &[u32], frames: usize) -> Tensor<3> {
        let device = &self.device;
        let input = Symbols::new(&[symbols], None, device);
        let encoded = self.model.encode(&input, Mode::Eval);
        let lengths: Vec<f32> = durations.iter().map(|&frames| frames as f32).collect();
        let times: Vec<f32> = (0..frames).map(|frame| frame as f32 + 0.5).collect();
        let positions: Vec<f32> = frame_positions(durations, 0, frames).into_iter().flatten().collect();
        self.model.upsample(
            &input,
            encoded,
            Tensor::from_data(TensorData::new(lengths, [1, symbols.len()]), device),
            Tensor::from_data(TensorData::new(times, [1, frames]), device),
            Tensor::from_data(TensorData::new(positions, [1, frames, POSITION_WIDTH]), device),
        )
    }

    /// The logarithm of each symbol's frames.
    ///
    /// * `speaker`: `[1, V]`, whose timing it is
    /// * `readout`: what another speaker's phones add; pauses stay
    pub async fn log_durations_async(
        &self,
        symbols: &[Symbol],
        speaker: &Tensor<2>,
        readout: Option<&HeadDelta>,
    ) -> Result<Vec<f32>> {
        let (predictor, count) = (&self.model.durations, symbols.len());
        let states = self.timing_states(symbols, speaker);
        let plain = predictor.read_out(states.clone()).reshape([count]);
        let Some(readout) = readout else { return Ok(read(plain).await?) };
        let own = predictor.with_readout(readout).read_out(states).reshape([count]);
        let both = read(Tensor::cat(vec![plain, own], 0)).await?;
        let of_symbol = |at: usize| both[if is_phone(symbols[at]) { count + at } else { at }];
        Ok((0..count).map(of_symbol).collect())
    }

    /// What durations are read out of, `[1, L, 2 W]`.
    ///
    /// * `speaker`: `[1, V]`
    pub fn timing_states(&self, symbols: &[Symbol], speaker: &Tensor<2>) -> Tensor<3> {
        let input = Symbols::new(&[symbols], None, &self.device);
        let encoded = self.model.encode(&input, Mode::Eval);
        self.model.durations.hidden(encoded, speaker.clone(), &input.lengths)
    }

    /// The melody of one item's contexts, `[1, T, E + 4]`; `None` where the model has no pitch.
    ///
    /// * `speaker`: `[1, V]`, whose melody it is
    /// * `readout`: what another speaker's voicing adds
    pub async fn contour_async(
        &self,
        contexts: &Tensor<3>,
        speaker: &Tensor<2>,
        readout: Option<&HeadDelta>,
    ) -> Result<Option<Contour>> {
        let Some(predictor) = &self.model.pitch else { return Ok(None) };
        let frames = contexts.dims()[1];
        let lengths = &[frames / self.config().reduction];
        let predicted = match readout {
            Some(readout) => {
                predictor.with_readout(readout).forward(contexts.clone(), speaker.clone(), lengths)
            }
            None => predictor.forward(contexts.clone(), speaker.clone(), lengths),
        };
        Ok(Some(Contour::new(&read(predicted.reshape([2 * frames])).await?)))
    }

    /// Replaces the list of speakers that are people. No clone of the base may exist.
    #[cfg(test)]
    pub(crate) fn set_people(&mut self, people: Vec<String>) {
        Arc::get_mut(&mut self.0).expect("the base has no clone").manifest.people = people;
    }

    /// Whether a row of the speaker table is of a person.
    pub fn is_person(&self, speaker: usize) -> bool {
        self.manifest.people.contains(&self.manifest.speakers[speaker])
    }

    /// Of a speaker of the base; `None` where the model has no pitch.
    pub fn intonation(&self, speaker: usize) -> Option<Intonation> {
        self.manifest.mean_pitches_hz.get(speaker).map(|&mean_hz| Intonation { mean_hz, spread: 1.0 })
    }

    /// Contexts `[1, T, C]` with the excitation of these frames; as they are where the model has no pitch.
    ///
    /// * `f0_hz`: 0 where unvoiced; frames beyond are unvoiced
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

    /// The row of the speaker that speaks when nobody was cloned.
    pub fn default_speaker(&self) -> usize {
        self.manifest.speakers.iter().position(|name| *name == self.manifest.default_speaker).unwrap_or(0)
    }
}

fn check(manifest: &Manifest) -> Result<(), String> {
    let model = &manifest.model;
    model.check()?;
    if model.autoregressive {
        return Err(
            "its decoder is autoregressive (\"feedback\": true), which known durations have no use for"
                .into(),
        );
    }
    if model.symbols != symbols::SYMBOL_COUNT || manifest.symbols != symbols::version() {
        return Err("it was trained with another symbol table".into());
    }
    if model.speakers != manifest.speakers.len() || model.mels != manifest.mel.mels {
        return Err("manifest and model disagree".into());
    }
    let hertz = |hz: &f32| (MIN_PITCH_HZ..=MAX_PITCH_HZ).contains(hz);
    if model.pitch
        && !(manifest.mean_pitches_hz.len() == model.speakers && manifest.mean_pitches_hz.iter().all(hertz))
    {
        return Err("its speakers have no pitch".into());
    }
    if !manifest.people.iter().all(|name| manifest.speakers.contains(name)) {
        return Err("people are named that are not among its speakers".into());
    }
    manifest.mel.check().map_err(|error| error.to_string())
}

/// Lower-case hexadecimal SHA-256.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
