//! Trains the neural vocoder on recordings and on spectrograms that a base synthesises for their words.

use std::path::PathBuf;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::{
    dataset::{VocoderClip, VocoderDataset},
    training::train,
};
use crate::{
    corpus::{Recording, label, layouts},
    learn::Trained,
    learn::{hyperparameters::RunConfig, run::curve_path},
};
use burn_fused::{
    Scope,
    weights::{HostWeights, apply, deserialize},
};
use ownvoice::{
    Error, Result,
    audio::{
        Audio,
        mel::{MelConfig, MelExtractor},
        pitch,
        resample::resample,
    },
    files,
    report::{Counter, Report},
    synth::sentence::copy_prosody,
    vocoder::{
        NeuralVocoder,
        network::{SourceFilter, VocoderConfig},
    },
    voice::{Base, Voice, folder},
};

/// The configuration of a training of the vocoder.
#[derive(Debug, Clone)]
pub struct TrainVocoderConfig {
    /// The folder of the corpus.
    pub corpus: PathBuf,
    /// The file for the weights.
    pub out: PathBuf,
    /// The folder of a base. If it is given, the vocoder also learns from the spectrograms that the base synthesises for the words of the corpus, because it will
    /// receive such spectrograms.
    pub base: Option<PathBuf>,
    /// The file of the initial weights. Those of a vocoder with a lower sample rate are widened.
    pub from: Option<PathBuf>,
    /// The largest standard deviation of the random smoothing of the spectrograms, in frames and channels. The vocoder learns to restore what a model blurs.
    pub smoothing: f32,
    pub training: RunConfig,
}

/// The default of [`TrainVocoderConfig::smoothing`]. With 2 in place of 0, DNSMOS of the teacher's held-out voices is 3.21 in place of 3.15 after 300 steps on
/// recordings of others, and P.808 of a base's sentences 3.14 in place of 3.12.
pub const SMOOTHING: f32 = 2.0;

const MAX_SMOOTHING: f32 = 16.0;

/// The number of recordings that are analysed at once.
const CHUNK: usize = 64;

/// Trains a vocoder and writes its weights. If they are part of a base, its manifest is updated.
pub fn train_vocoder(config: &TrainVocoderConfig, report: &dyn Report) -> Result<Trained> {
    let TrainVocoderConfig { corpus, out, base, from, smoothing, training } = config;
    let RunConfig { hyperparameters, directory, device, ranks, .. } = training;
    files::check_writable(out)?;
    if !(0.0..=MAX_SMOOTHING).contains(smoothing) {
        return Err(Error::option_invalid(format!(
            "a smoothing of {smoothing} is not between 0 and {MAX_SMOOTHING}"
        )));
    }
    if !hyperparameters.compute.precision.runs_on(device) {
        return Err(Error::precision_unsupported());
    }
    let sizes = VocoderConfig::small();
    let extractor = MelExtractor::new(MelConfig::speech_16k());
    let recordings: Vec<Recording> = layouts::load(corpus, report)?.collect();
    let counter = Counter::new(report, recordings.len(), "reading");
    let read = |(index, recording): (usize, &Recording)| {
        counter.count();
        recorded(recording, hyperparameters.seed + index as u64, sizes.sample_rate_hz, &extractor)
    };
    let mut dataset = VocoderDataset::create(directory, extractor.config().clone())?;
    let numbered: Vec<(usize, &Recording)> = recordings.iter().enumerate().collect();
    for chunk in numbered.chunks(CHUNK) {
        let read = chunk.par_iter().copied().map(read).collect::<Result<Vec<VocoderClip>>>()?;
        for ((_, recording), clip) in chunk.iter().zip(&read) {
            dataset.push(recording.id.clone(), clip)?;
        }
    }
    if let Some(folder) = base {
        let base = Base::open(folder, &device.clone().inner())?;
        let counter = Counter::new(report, recordings.len(), "spoken by the base");
        for recording in &recordings {
            if let Some(clip) = synthesised(&base, recording, sizes.sample_rate_hz, &extractor)? {
                dataset.push(format!("{}, spoken by the base", recording.id), &clip)?;
            }
            counter.count();
        }
    }
    report.note(&format!("{} clips of {} recordings", dataset.len(), recordings.len()));
    device.seed(hyperparameters.seed);
    let mut blank = SourceFilter::new(&sizes, device).computing(&Scope::new(hyperparameters.compute.clone()));
    if let Some(path) = from {
        let (weights, _) = deserialize(&files::read(path)?).map_err(Error::checkpoint_corrupt)?;
        blank = apply(blank, widened(weights, sizes.bins)).map_err(Error::checkpoint_corrupt)?;
    }
    let (model, held_out_loss) = train(&dataset, &sizes, *smoothing, blank, training, report)?;
    let bytes = pollster::block_on(NeuralVocoder::serialize(&model, &sizes))?;
    if ranks.is_first() {
        folder::write_part(out, &bytes)?;
        report.curve(&curve_path(directory), &out.with_extension(""))?;
    }
    Ok(Trained::new(out, &bytes, held_out_loss))
}

/// Returns the weights with as many frequencies as `bins`. The filters of new ones start as the spectrogram's envelope.
fn widened(mut weights: HostWeights, bins: usize) -> HostWeights {
    for name in ["harmonic.weight", "harmonic.bias", "noise.weight", "noise.bias"] {
        // The frequencies are the columns of a weight and the elements of a bias.
        let Some((shape, values)) = weights.get_mut(name) else { continue };
        let Some(from) = shape.last_mut().filter(|from| (1..bins).contains(*from)) else { continue };
        let row = |row: &[f32]| {
            row.iter().copied().chain(std::iter::repeat_n(0.0, bins - row.len())).collect::<Vec<_>>()
        };
        *values = values.chunks_exact(*from).flat_map(row).collect();
        *from = bins;
    }
    weights
}

/// Returns the rate of a recording that is played at `speed` times the speed.
fn played_hz(recorded_hz: u32, speed: f32) -> u32 {
    (recorded_hz as f32 * speed) as u32
}

/// Returns the highest frequency that a recording contains, resampled from one rate to another. Below half the rate of the spectrograms, these show what it lacks.
fn band_hz(from_hz: u32, to_hz: u32, mel: &MelConfig) -> f32 {
    /// The resampler attenuates the frequencies from here on, as a share of half the lower rate.
    const KEPT: f32 = 0.97;
    let half_hz = |rate_hz: u32| rate_hz as f32 / 2.0;
    let band_hz = if from_hz == to_hz { half_hz(to_hz) } else { KEPT * half_hz(from_hz.min(to_hz)) };
    band_hz.max(half_hz(mel.sample_rate_hz))
}

/// Reads a recording at `rate_hz`, played at `speed` times the speed, and returns it with the highest frequency that it contains.
fn read(recording: &Recording, speed: f32, rate_hz: u32, mel: &MelConfig) -> Result<(Audio, f32)> {
    let recorded_hz = files::read_audio(&recording.path)?.sample_rate_hz;
    let samples = recording.samples_at_speed(speed, rate_hz)?;
    let band_hz = band_hz(played_hz(recorded_hz, speed), rate_hz, mel);
    Ok((Audio { samples, sample_rate_hz: rate_hz }, band_hz))
}

/// Returns a recording with its own spectrogram. Half of the recordings, at random, are played faster or slower, so that the vocoder learns other voices.
fn recorded(recording: &Recording, seed: u64, rate_hz: u32, extractor: &MelExtractor) -> Result<VocoderClip> {
    const SPEEDS: std::ops::Range<f32> = 0.8..1.25;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let speed = if random.random_bool(0.5) { 1.0 } else { random.random_range(SPEEDS) };
    let (audio, band_hz) = read(recording, speed, rate_hz, extractor.config())?;
    VocoderClip::new(audio, band_hz, None, extractor)
}

/// Returns a recording with the spectrogram that the base synthesises for its words, durations and pitch. Returns `None` if the base lacks the speaker or the
/// recording lacks phone times.
fn synthesised(
    base: &Base,
    recording: &Recording,
    rate_hz: u32,
    extractor: &MelExtractor,
) -> Result<Option<VocoderClip>> {
    let config = extractor.config();
    let speaker = base.speakers().iter().position(|name| *name == recording.speaker);
    let Some(voice) = speaker.and_then(|speaker| Voice::from_base_speaker(base, speaker)) else {
        return Ok(None);
    };
    let (audio, band_hz) = read(recording, 1.0, rate_hz, config)?;
    let samples = resample(&audio.samples, rate_hz, config.sample_rate_hz)?;
    let seconds = samples.len() as f32 / config.sample_rate_hz as f32;
    let Ok(labels) = label(&base.phonemizer, &recording.text, recording.phones.as_deref(), seconds) else {
        return Ok(None);
    };
    let Some(durations) = labels.durations(config.frames(samples.len()), config.frame_seconds()) else {
        return Ok(None);
    };
    let f0_hz = pitch::track(&samples, config.sample_rate_hz, config.hop_length).f0_hz;
    let mel = pollster::block_on(copy_prosody(&voice, &labels.symbols, &durations, &f0_hz))?;
    Ok(Some(VocoderClip::new(audio, band_hz, Some(mel), extractor)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::hyperparameters::Hyperparameters;
    use burn::prelude::*;
    use burn_fused::weights::{Metadata, Storage, collect, serialize};
    use ownvoice::audio::mel::Mel;

    #[test]
    fn recordings_contain_half_their_rate_unless_the_spectrogram_shows_what_they_lack() {
        let mel = MelConfig::speech_16k();
        assert_eq!(band_hz(24_000, 24_000, &mel), 12_000.0);
        assert_eq!(band_hz(48_000, 24_000, &mel), 0.97 * 12_000.0);
        assert_eq!(band_hz(played_hz(24_000, 0.8), 24_000, &mel), 0.97 * 9_600.0);
        assert_eq!(band_hz(16_000, 24_000, &mel), 8_000.0);
        assert_eq!(band_hz(8_000, 24_000, &mel), 8_000.0);
        assert_eq!(band_hz(16_000, 16_000, &mel), 8_000.0);
    }

    #[test]
    fn an_impossible_smoothing_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for smoothing in [-1.0, f32::NAN, 1e9] {
            let config = TrainVocoderConfig {
                corpus: folder.path().join("nowhere"),
                out: folder.path().join("vocoder.safetensors"),
                base: None,
                from: None,
                smoothing,
                training: RunConfig::new(
                    Hyperparameters::vocoder(),
                    folder.path().join("run"),
                    &Device::flex(),
                ),
            };
            assert_eq!(train_vocoder(&config, &()).err().unwrap().code(), "option-invalid", "{smoothing}");
        }
    }

    /// A widened network makes the same filters below 8 kHz, and above them the envelope of the spectrogram.
    #[test]
    fn a_network_of_a_lower_rate_is_widened() {
        let device = Device::flex();
        device.seed(3);
        let mel_config = MelConfig::speech_16k();
        let wide = VocoderConfig { width: 8, layers: 1, ..VocoderConfig::small() };
        let narrow = VocoderConfig { sample_rate_hz: 16_000, bins: 513, ..wide.clone() };
        let network = SourceFilter::new(&narrow, &device);
        let file = serialize(collect(&network), Storage::Full, Metadata::new());
        let weights = deserialize(&pollster::block_on(file).unwrap()).unwrap().0;
        let widened = apply(SourceFilter::new(&wide, &device), widened(weights, wide.bins)).unwrap();
        let mel = Mel { mels: 80, data: (0..3 * 80).map(|at| -4.0 + (at as f32 * 0.1).sin()).collect() };
        let filters = |network: SourceFilter, config: &VocoderConfig| {
            let envelope = config.extractor(&mel_config).unwrap().envelope(&mel);
            let tensor = |values: Vec<f32>, width: usize| {
                Tensor::<3>::from_data(TensorData::new(values, [1, 3, width]), &device)
            };
            let found = network.forward(tensor(mel.data.clone(), 80), tensor(envelope.clone(), config.bins));
            let residual = |filter: Tensor<3>| {
                let values = filter.into_data().try_to_vec::<f32>().unwrap();
                values.iter().zip(&envelope).map(|(filter, envelope)| filter - envelope).collect::<Vec<_>>()
            };
            [residual(found.harmonic), residual(found.noise)]
        };
        for (before, after) in filters(network, &narrow).iter().zip(filters(widened, &wide)) {
            for (before, after) in before.chunks(513).zip(after.chunks(769)) {
                assert!(before.iter().zip(after).all(|(before, after)| (before - after).abs() < 1e-5));
                assert!(
                    after[513..].iter().all(|residual| residual.abs() < 1e-5) && before[400].abs() > 1e-3
                );
            }
        }
    }
}
