//! A voice, and its file: the difference from a base, as safetensors.
//!
//! | tensor | contents |
//! |---|---|
//! | `decoder.*`, `postnet.*`, `speaker` | the differences from the base's weights, in 8 bits with a scale per row |
//! | `timing_speaker` | the vector of the base speaker whose durations and contours the voice follows, in half precision |
//! | `spectral_match.mean`, `.shift`, `.map`, `.ceiling` | the spectral transport, see [`super::spectral_transport`]; absent for a speaker of the base, and where the clips have too little speech |
//! | `voicing_readout` | the head delta of the voicing, see [`crate::model::head_delta::HeadDelta`]; absent for a speaker of the base, for a whisper, and on a base without pitch |
//! | `timing_readout` | the head delta of the durations; absent for a speaker of the base |
//!
//! | metadata | contents |
//! |---|---|
//! | `format` | `ownvoice-voice-1` |
//! | `base` | the hash of the base |
//! | `pace` | the duration scale |
//! | `variance_scale` | the four factors of the global variance scale |
//! | `pitch_hz`, `pitch_spread` | the intonation, on a base with pitch; `voicing` is then `0 0` and is not read |
//! | `iterations`, `seconds` | the iterations of the training, and the length of the speech in its clips |
//! | `held_out_loss_base`, `held_out_loss` | the loss of the held-out clips before and after the training |
//! | `consent`, `consent_recording_sha256` | the text of the speaker's consent, and the hash of its recording |

use burn::{module::Param, prelude::*};

use super::{
    Adapted, Base, Consent, Prosody, VoiceInfo,
    adapted::{adaptable, add},
    spectral_transport::SpectralTransport,
};
use crate::{
    Error, Result,
    audio::global_variance_scale::{FLAT, GlobalVarianceScale, VARIANCE_SCALES},
    model::{
        head_delta::HeadDelta,
        pitch::{Intonation, PitchPredictor},
    },
};
use burn_fused::{
    Scope,
    weights::{HostWeights, Metadata, Storage, Weight, apply, deserialize, serialize},
};

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
/// # Ok::<(), ownvoice::Error>(())
/// ```
#[warn(missing_docs)]
pub struct Voice {
    pub(crate) base: Base,
    #[doc(hidden)]
    pub parts: Adapted,
    /// The base speaker that training started from, `[1, V]`, whose durations and contours the voice follows.
    #[doc(hidden)]
    pub timing_speaker: Tensor<2>,
    /// The prosody of the voice, relative to this speaker.
    #[doc(hidden)]
    pub prosody: Prosody,
    /// The factors on the deviation of the spectra from their means, see [`crate::audio::global_variance_scale`].
    #[doc(hidden)]
    pub global_variance_scale: GlobalVarianceScale,
    /// The transport of the spectra to the speaker's; `None` where the spectra were not compared.
    #[doc(hidden)]
    pub spectral_transport: Option<SpectralTransport>,
    pub(crate) info: VoiceInfo,
}

const FORMAT: &str = "ownvoice-voice-1";
const TIMING_SPEAKER: &str = "timing_speaker";
const VOICING_READOUT: &str = "voicing_readout";
const TIMING_READOUT: &str = "timing_readout";
/// The range of the duration scale of a person.
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
    /// # Ok::<(), ownvoice::Error>(())
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
        // A vector is stored in half precision. A matrix would be rounded to 8 bits, which would change the durations.
        let timing = Weight { shape: vec![width], values: self.timing_speaker.clone().reshape([width]) };
        delta.insert(TIMING_SPEAKER.into(), timing);
        if let Some(transport) = &self.spectral_transport {
            transport.put(&mut delta, &base.device);
        }
        let head_deltas =
            [(VOICING_READOUT, &prosody.voicing_head_delta), (TIMING_READOUT, &prosody.duration_head_delta)];
        for (name, head_delta) in head_deltas {
            if let Some(head_delta) = head_delta {
                delta.insert(name.into(), Weight::vector(head_delta.weights().to_vec(), &base.device));
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
        let mut reader = Reader::new(base, bytes)?;
        let duration_scale = reader.duration_scale()?;
        let global_variance_scale = reader.global_variance_scale()?;
        let spectral_transport = reader.spectral_transport()?;
        let intonation = reader.intonation()?;
        let voicing_width = base.model.pitch.as_ref().map(PitchPredictor::head_delta_width);
        let voicing_head_delta = reader.head_delta(VOICING_READOUT, voicing_width)?;
        let duration_width = base.model.durations.head_delta_width();
        let duration_head_delta = reader.head_delta(TIMING_READOUT, Some(duration_width))?;
        let timing_speaker = reader.timing_speaker()?;
        let info = reader.info()?;
        Ok(Self {
            base: base.clone(),
            parts: reader.parts()?,
            timing_speaker,
            prosody: Prosody { duration_scale, duration_head_delta, intonation, voicing_head_delta },
            global_variance_scale,
            spectral_transport,
            info,
        })
    }
}

/// The contents of a voice file, which are checked as they are read.
struct Reader<'a> {
    base: &'a Base,
    /// The tensors that were not read yet.
    tensors: HostWeights,
    metadata: Metadata,
}

impl<'a> Reader<'a> {
    /// Decodes a file and checks its format and its base.
    fn new(base: &'a Base, bytes: &[u8]) -> Result<Self> {
        let (tensors, metadata) = deserialize(bytes).map_err(Error::voice_corrupt)?;
        let reader = Self { base, tensors, metadata };
        let format = reader.text("format")?;
        if format != FORMAT {
            return Err(Error::voice_corrupt(format!(
                "its format is {format:?}, and this version reads {FORMAT:?}"
            )));
        }
        let hash = reader.text("base")?;
        if hash != base.hash() {
            let short = |hash: &str| hash.chars().take(12).collect::<String>();
            return Err(Error::base_mismatch(short(hash), short(base.hash())));
        }
        Ok(reader)
    }

    fn text(&self, key: &str) -> Result<&str> {
        let value = self.metadata.get(key).map(String::as_str);
        value.ok_or_else(|| Error::voice_corrupt(format!("its {key} is missing")))
    }

    /// Returns a finite number.
    fn number(&self, key: &str) -> Result<f32> {
        let value = self.text(key)?.parse().ok().filter(|value: &f32| value.is_finite());
        value.ok_or_else(|| Error::voice_corrupt(format!("its {key} is not a number")))
    }

    fn duration_scale(&self) -> Result<f32> {
        let scale = self.number("pace")?;
        if !DURATION_SCALES.contains(&scale) {
            return Err(Error::voice_corrupt(format!("its duration scale is {scale}")));
        }
        Ok(scale)
    }

    fn global_variance_scale(&self) -> Result<GlobalVarianceScale> {
        let factors = self.text("variance_scale")?.split(' ').map(|factor| factor.parse().ok());
        factors
            .collect::<Option<Vec<f32>>>()
            .filter(|factors| factors.iter().all(|factor| VARIANCE_SCALES.contains(factor)))
            .and_then(|factors| GlobalVarianceScale::try_from(factors).ok())
            .ok_or_else(|| Error::voice_corrupt("its variance scale is out of range"))
    }

    fn spectral_transport(&mut self) -> Result<Option<SpectralTransport>> {
        if !SpectralTransport::is_in(&self.tensors) {
            return Ok(None);
        }
        let transport = SpectralTransport::take(&mut self.tensors);
        match transport.filter(|transport| transport.is_sound(self.base.config().mels)) {
            None => Err(Error::voice_corrupt("its spectral transport is out of range")),
            transport => Ok(transport),
        }
    }

    fn intonation(&self) -> Result<Option<Intonation>> {
        if !self.base.config().pitch {
            return Ok(None);
        }
        let intonation =
            Intonation { mean_hz: self.number("pitch_hz")?, spread: self.number("pitch_spread")? };
        if !intonation.is_human() {
            return Err(Error::voice_corrupt("its pitch is out of range"));
        }
        Ok(Some(intonation))
    }

    /// Reads a head delta of `width` values; `None` for `width` where the base has no such predictor.
    fn head_delta(&mut self, name: &str, width: Option<usize>) -> Result<Option<HeadDelta>> {
        let Some((_, weights)) = self.tensors.remove(name) else { return Ok(None) };
        match HeadDelta::new(weights).filter(|delta| Some(delta.weights().len()) == width) {
            None => Err(Error::voice_corrupt(format!("its {name} is out of range"))),
            delta => Ok(delta),
        }
    }

    fn timing_speaker(&mut self) -> Result<Tensor<2>> {
        let width = self.base.config().speaker_width;
        match self.tensors.remove(TIMING_SPEAKER) {
            Some((shape, values)) if shape == [width] => {
                Ok(Tensor::from_data(TensorData::new(values, [1, width]), &self.base.device))
            }
            _ => Err(Error::voice_corrupt("its timing speaker is missing or has another size")),
        }
    }

    fn info(&self) -> Result<VoiceInfo> {
        let consent = self.metadata.get("consent").map(|text| {
            let recording_sha256 = self.metadata.get("consent_recording_sha256").cloned();
            Consent { text: text.clone(), recording_sha256 }.checked().map_err(Error::voice_corrupt)
        });
        Ok(VoiceInfo {
            adapted: true,
            iterations: self.number("iterations")? as usize,
            seconds: self.number("seconds")?,
            held_out_loss: self
                .number("held_out_loss_base")
                .and_then(|before| Ok([before, self.number("held_out_loss")?]))
                .ok(),
            consent: consent.transpose()?,
        })
    }

    /// Adds the remaining tensors, which must be those of the adapted parts, to the base's weights.
    fn parts(self) -> Result<Adapted> {
        let start = Voice::unadapted(self.base).parts;
        let origin = adaptable(&start);
        if self.tensors.len() != origin.len() || !self.tensors.keys().all(|name| origin.contains_key(name)) {
            return Err(Error::voice_corrupt("its tensors are not those of a voice"));
        }
        Ok(add(apply(start, self.tensors).map_err(Error::voice_corrupt)?, &origin))
    }
}
