//! A voice: what fine-tuning changed or measured. Saved as safetensors, as the difference from a base.
//!
//! | tensor | what it is |
//! |---|---|
//! | `decoder.*`, `postnet.*`, `speaker` | differences from the base's, in 8 bits with a scale a row |
//! | `timing_speaker` | the base speaker whose timing is followed: a vector, whole, in half precision |
//! | `spectral_transport.mean`, `.shift`, `.map`, `.ceiling` | what takes its spectra to the speaker's, see [`super::spectral_transport`]; absent where they were not compared |
//! | `voicing_readout` | the correction of the voicing, see [`crate::model::head_delta::HeadDelta`]; absent for a speaker of the base, a whisper, and on a base without pitch |
//! | `timing_readout` | the correction of the durations, likewise; absent for a speaker of the base |
//!
//! | metadata | what it is |
//! |---|---|
//! | `format` | `ownvoice-voice-1` |
//! | `base` | the hash of the base |
//! | `pace` | the duration scale |
//! | `variance_scale` | the four factors of the global variance scale |
//! | `pitch_hz`, `pitch_spread` | the intonation, on a base with pitch; `voicing` beside them is always `0 0`, and is not read |
//! | `iterations`, `seconds` | of its training, and of the speech in it |
//! | `held_out_loss_base`, `held_out_loss` | of the held-out clips, before and after |
//! | `consent`, `consent_recording_sha256` | what the speaker agreed to, and the hash of the recording of it |

use super::{Base, Prosody, spectral_transport::SpectralTransport};
use crate::{
    Error, Result,
    audio::global_variance_scale::{FLAT, GlobalVarianceScale, VARIANCE_SCALES},
    model::{
        decoder::Decoder,
        head_delta::HeadDelta,
        pitch::{Intonation, PitchPredictor},
        postnet::Postnet,
    },
};
use burn::{
    module::{Module, Param},
    prelude::*,
};
use burn_fused::{
    ComputePlan, Precision, Scope,
    weights::{Metadata, Storage, Weight, Weights, apply, collect, deserialize, map, serialize},
};

/// The parts that are adapted to a speaker; the encoder is frozen.
#[derive(Module, Debug)]
pub struct Adapted {
    pub decoder: Decoder,
    pub postnet: Postnet,
    /// `[1, V]`
    pub speaker: Param<Tensor<2>>,
    /// How it computes, and with it its loss.
    #[module(skip)]
    pub scope: Scope,
}

impl Adapted {
    /// Sets the precision of their matmuls.
    pub fn with_precision(self, precision: Precision) -> Self {
        self.computing(&Scope::new(ComputePlan::from_precision(precision)))
    }

    /// How its operations are computed; `scope` is that of the whole model.
    pub fn computing(self, scope: &Scope) -> Self {
        Self {
            decoder: self.decoder.computing(&scope.at("decoder")),
            postnet: self.postnet.computing(&scope.at("postnet")),
            speaker: self.speaker,
            scope: scope.clone(),
        }
    }
}

/// How a voice was made.
#[warn(missing_docs)]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VoiceInfo {
    /// False for a speaker of the base.
    pub adapted: bool,
    /// Iterations of the fine-tuning.
    pub iterations: usize,
    /// Speech in the clips.
    pub seconds: f32,
    /// Held-out spectrogram loss before and after, where clips were held out.
    pub held_out_loss: Option<[f32; 2]>,
    /// The speaker's consent, where it was given.
    pub consent: Option<Consent>,
}

/// That the speaker agreed to the voice being made.
#[warn(missing_docs)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// The statement that the speaker read aloud or ticked.
    pub text: String,
    /// SHA-256 of the recording of the statement, as a 16-bit WAV file; `None` where it was ticked.
    pub recording_sha256: Option<String>,
}

/// A consent is a sentence, not a book.
const MAX_CONSENT_CHARACTERS: usize = 1000;

/// A voice on the device of its base: a speaker of the base ([`Voice::unadapted`]), a clone ([`FineTuner`](crate::clone::FineTuner)), or the contents of a
/// voice file ([`Voice::open`]). It holds a reference to its base, and threads may share it.
///
/// ```
/// use ownvoice::{Base, Device, Voice};
///
/// # let models = ownvoice_testing::tiny_folder();
/// # let folder = models.path().join("base");
/// let base = Base::open(folder, &Device::flex())?;
/// let file = Voice::unadapted(&base).save()?;
/// let again = Voice::open(&base, &file)?;
/// assert_eq!(again.duration_scale(), 1.0);
/// assert_eq!(Voice::open(&base, b"no voice").err().unwrap().code(), "voice-corrupt");
/// # Ok::<(), crate::Error>(())
/// ```
#[warn(missing_docs)]
pub struct Voice {
    pub(crate) base: Base,
    #[doc(hidden)]
    pub parts: Adapted,
    /// The base speaker that training started from, `[1, V]`, whose durations and contours the voice follows.
    #[doc(hidden)]
    pub timing_speaker: Tensor<2>,
    /// What the voice adds to the prosody of this speaker.
    #[doc(hidden)]
    pub prosody: Prosody,
    /// Factors on the deviation of its spectra from their means, see [`crate::audio::global_variance_scale`].
    #[doc(hidden)]
    pub global_variance_scale: GlobalVarianceScale,
    /// What takes its spectra to its speaker's; `None` where they were not compared.
    #[doc(hidden)]
    pub spectral_transport: Option<SpectralTransport>,
    pub(crate) info: VoiceInfo,
}

const FORMAT: &str = "ownvoice-voice-1";
const TIMING_SPEAKER: &str = "timing_speaker";
const VOICING_READOUT: &str = "voicing_readout";
const TIMING_READOUT: &str = "timing_readout";
/// Nobody speaks three times faster or slower than everybody else.
const DURATION_SCALES: std::ops::RangeInclusive<f32> = 0.33..=3.0;

#[warn(missing_docs)]
impl Voice {
    /// Returns the voice of the base's default speaker.
    pub fn unadapted(base: &Base) -> Self {
        Self::from_row(base, base.default_speaker())
    }

    /// Returns the voice of a speaker of the base, by its index in [`Base::speakers`]; `None` where the base has fewer speakers.
    ///
    /// ```
    /// use ownvoice::{Base, Device, Voice};
    ///
    /// # let models = ownvoice_testing::tiny_folder();
    /// # let folder = models.path().join("base");
    /// let base = Base::open(folder, &Device::flex())?;
    /// let last = base.speakers().len() - 1;
    /// assert!(Voice::from_base_speaker(&base, last).is_some());
    /// assert!(Voice::from_base_speaker(&base, last + 1).is_none());
    /// # Ok::<(), crate::Error>(())
    /// ```
    pub fn from_base_speaker(base: &Base, index: usize) -> Option<Self> {
        (index < base.speakers().len()).then(|| Self::from_row(base, index))
    }

    /// Returns the voice of a row of the speaker table, which must exist.
    pub(crate) fn from_row(base: &Base, index: usize) -> Self {
        let speaker = base.speaker(index);
        let parts = Adapted {
            decoder: base.model.decoder.clone(),
            postnet: base.model.postnet.clone(),
            speaker: Param::from_tensor(speaker.clone()),
            scope: Scope::default(),
        };
        Self {
            base: base.clone(),
            parts,
            timing_speaker: speaker,
            prosody: Prosody::from_base_speaker(base.intonation(index)),
            global_variance_scale: FLAT,
            spectral_transport: None,
            info: VoiceInfo::default(),
        }
    }

    /// Returns the base of the voice.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// Returns how the voice was made.
    pub fn info(&self) -> &VoiceInfo {
        &self.info
    }

    /// Returns the factor by which the speaker's phones are longer than the base predicts.
    pub fn duration_scale(&self) -> f32 {
        self.prosody.duration_scale
    }

    /// Stores the speaker's consent in the voice. Fails with `option-invalid` where its text is empty or has over 1,000 characters.
    pub fn set_consent(&mut self, consent: Consent) -> Result<()> {
        self.info.consent = Some(consent.checked().map_err(Error::option_invalid)?);
        Ok(())
    }

    /// Encodes a voice file: [`Self::save`] for callers that await.
    pub async fn save_async(&self) -> Result<Vec<u8>> {
        let Self { base, prosody, .. } = self;
        let origin = adaptable(&Self::unadapted(base).parts);
        let mut delta = adaptable(&self.parts);
        for (name, weight) in &mut delta {
            weight.values = weight.values.clone() - origin[name].values.clone();
        }
        let width = self.timing_speaker.dims()[1];
        // A vector is kept in half precision, as the base's own: a matrix would be rounded to bytes, and durations with it.
        let timing = Weight { shape: vec![width], values: self.timing_speaker.clone().reshape([width]) };
        delta.insert(TIMING_SPEAKER.into(), timing);
        if let Some(found) = &self.spectral_transport {
            found.put(&mut delta, &base.device);
        }
        let readouts =
            [(VOICING_READOUT, &prosody.voicing_head_delta), (TIMING_READOUT, &prosody.duration_head_delta)];
        for (name, readout) in readouts {
            if let Some(readout) = readout {
                delta.insert(name.into(), Weight::vector(readout.weights().to_vec(), &base.device));
            }
        }
        let mut metadata = Metadata::from([
            ("format".to_string(), FORMAT.to_string()),
            ("base".to_string(), base.hash().to_string()),
            ("pace".to_string(), prosody.duration_scale.to_string()),
            (
                "variance_scale".to_string(),
                self.global_variance_scale.map(|scale| scale.to_string()).join(" "),
            ),
            ("iterations".to_string(), self.info.iterations.to_string()),
            ("seconds".to_string(), self.info.seconds.to_string()),
        ]);
        if let Some(Intonation { mean_hz, spread }) = prosody.intonation {
            metadata.insert("voicing".into(), "0 0".into());
            metadata.insert("pitch_hz".into(), mean_hz.to_string());
            metadata.insert("pitch_spread".into(), spread.to_string());
        }
        if let Some([before, after]) = self.info.held_out_loss {
            metadata.insert("held_out_loss_base".into(), before.to_string());
            metadata.insert("held_out_loss".into(), after.to_string());
        }
        if let Some(Consent { text, recording_sha256 }) = &self.info.consent {
            metadata.insert("consent".into(), text.clone());
            metadata
                .extend(recording_sha256.clone().map(|hash| ("consent_recording_sha256".to_string(), hash)));
        }
        Ok(serialize(delta, Storage::Bytes, metadata).await?)
    }

    /// Opens a voice file, which is untrusted input: every name, shape and number is checked against the base.
    ///
    /// Fails with `voice-corrupt`, or with `base-mismatch` where the voice was made with another base.
    pub fn open(base: &Base, bytes: &[u8]) -> Result<Self> {
        let (mut delta, metadata) = deserialize(bytes).map_err(Error::voice_corrupt)?;
        let text = |key: &str| {
            metadata.get(key).ok_or_else(|| Error::voice_corrupt(format!("it does not say its {key}")))
        };
        if text("format")? != FORMAT {
            return Err(Error::voice_corrupt(format!(
                "its format is {:?}, this version reads {FORMAT:?}",
                metadata["format"]
            )));
        }
        let named = text("base")?;
        if named != base.hash() {
            let short = |hash: &str| hash.chars().take(12).collect::<String>();
            return Err(Error::base_mismatch(short(named), short(base.hash())));
        }
        let number = |key: &str| -> Result<f32> {
            let value: f32 =
                text(key)?.parse().map_err(|_| Error::voice_corrupt(format!("its {key} is not a number")))?;
            if value.is_finite() {
                Ok(value)
            } else {
                Err(Error::voice_corrupt(format!("its {key} is not a number")))
            }
        };
        let duration_scale = number("pace")?;
        if !DURATION_SCALES.contains(&duration_scale) {
            return Err(Error::voice_corrupt(format!("its duration scale is {duration_scale}")));
        }
        let factors = text("variance_scale")?.split(' ').map(|factor| factor.parse().ok());
        let global_variance_scale = factors
            .collect::<Option<Vec<f32>>>()
            .filter(|factors| factors.iter().all(|factor| VARIANCE_SCALES.contains(factor)))
            .and_then(|factors| GlobalVarianceScale::try_from(factors).ok())
            .ok_or_else(|| Error::voice_corrupt("its variance scale is out of range"))?;
        let spectral_transport =
            SpectralTransport::is_in(&delta).then(|| SpectralTransport::take(&mut delta));
        let is_sound = |found: &SpectralTransport| found.is_sound(base.config().mels);
        let spectral_transport = spectral_transport
            .map(|found| {
                found
                    .filter(is_sound)
                    .ok_or_else(|| Error::voice_corrupt("its spectral match is out of range"))
            })
            .transpose()?;
        let intonation = match base.config().pitch {
            true => Some(Intonation { mean_hz: number("pitch_hz")?, spread: number("pitch_spread")? }),
            false => None,
        };
        if intonation.is_some_and(|intonation| !intonation.is_human()) {
            return Err(Error::voice_corrupt("its pitch is nobody's"));
        }
        let mut readout = |name: &str, width: Option<usize>| {
            let sound = |(_, weights): (_, Vec<f32>)| {
                HeadDelta::new(weights)
                    .filter(|readout| Some(readout.weights().len()) == width)
                    .ok_or_else(|| Error::voice_corrupt(format!("its {name} is out of range")))
            };
            delta.remove(name).map(sound).transpose()
        };
        let voicing_width = base.model.pitch.as_ref().map(PitchPredictor::readout_width);
        let voicing_head_delta = readout(VOICING_READOUT, voicing_width)?;
        let duration_head_delta = readout(TIMING_READOUT, Some(base.model.durations.readout_width()))?;
        let width = base.config().speaker_width;
        let timing = match delta.remove(TIMING_SPEAKER) {
            Some((shape, values)) if shape == [width] => values,
            _ => return Err(Error::voice_corrupt("it lacks its timing")),
        };
        let start = Self::unadapted(base).parts;
        let origin = adaptable(&start);
        if delta.len() != origin.len() || !delta.keys().all(|name| origin.contains_key(name)) {
            return Err(Error::voice_corrupt("its tensors are not those of a voice"));
        }
        let parts = add(apply(start, delta).map_err(Error::voice_corrupt)?, &origin);
        let consent = metadata.get("consent").map(|text| {
            let consent = Consent {
                text: text.clone(),
                recording_sha256: metadata.get("consent_recording_sha256").cloned(),
            };
            consent.checked().map_err(Error::voice_corrupt)
        });
        let info = VoiceInfo {
            adapted: true,
            iterations: number("iterations")? as usize,
            seconds: number("seconds")?,
            held_out_loss: number("held_out_loss_base")
                .and_then(|before| Ok([before, number("held_out_loss")?]))
                .ok(),
            consent: consent.transpose()?,
        };
        Ok(Self {
            base: base.clone(),
            parts,
            timing_speaker: Tensor::from_data(TensorData::new(timing, [1, width]), &base.device),
            prosody: Prosody { duration_scale, duration_head_delta, intonation, voicing_head_delta },
            global_variance_scale,
            spectral_transport,
            info,
        })
    }
}

impl Consent {
    fn checked(self) -> Result<Self, String> {
        let is_hash = |hash: &String| {
            hash.len() == 64
                && hash.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        };
        if self.text.trim().is_empty() || self.text.chars().count() > MAX_CONSENT_CHARACTERS {
            return Err("a consent is a sentence".into());
        }
        match &self.recording_sha256 {
            Some(hash) if !is_hash(hash) => Err("the consent's hash is none".into()),
            _ => Ok(self),
        }
    }
}

/// The weights that cloning changes. Running statistics stay as the base has them; burn shares them between clones of a
/// module, so writing one voice's would change every other's.
pub(crate) fn adaptable(parts: &Adapted) -> Weights {
    collect(parts).into_iter().filter(|(name, _)| !name.contains(".running_")).collect()
}

/// Adds weights to a module's own, by name.
fn add(module: Adapted, other: &Weights) -> Adapted {
    map(module, |path, values| Some(values + other.get(path)?.values.clone()))
}
