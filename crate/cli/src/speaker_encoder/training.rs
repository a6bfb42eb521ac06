//! Trains the speaker encoder on augmented recordings (additive angular margin; Deng et al. 2019).

use burn::{
    module::{Module, Param},
    nn::Initializer,
    prelude::*,
    tensor::activation::log_softmax,
};
use half::f16;
use rand::Rng;

use super::{
    augment::{augment, gaussian},
    network::{EMBEDDING, POOLED, SpeakerEncoder},
};
use crate::learn::{
    data_loader::Collate,
    hyperparameters::{Hyperparameters, RunConfig},
    run::{Run, split},
    trainable_model::TrainableModel,
};
use burn_fused::{ComputePlan, Mode, ranks::Shard, trace::Value};
use ownvoice::{
    Error, Result,
    audio::mel::Mel,
    learn::sampler::{BatchKey, BatchSampler},
    model::batch::{Clips, Data},
    report::Report,
};

impl Hyperparameters {
    /// The hyperparameters of a speaker encoder.
    pub fn speaker_encoder() -> Self {
        Self {
            steps: 2000,
            batch: 32,
            window: 160,
            seed: 1,
            rate_start: 2e-3,
            rate_end: 1e-4,
            checkpoint_every: 100,
            compute: ComputePlan::default(),
        }
    }
}

/// The angular margin in radians by which a clip should be closer to its own speaker than to any other.
const MARGIN: f32 = 0.2;
/// The scale of cosines in the softmax.
const SHARPNESS: f32 = 24.0;
/// The standard deviation of the noise before the pooling, relative to the normalised layer.
const NOISE: f64 = 0.1;

/// A clip of a speaker.
pub struct Sample {
    pub speaker: usize,
    /// `[T, M]`, in half precision to save memory
    pub mel: Vec<f16>,
}

impl Sample {
    pub fn new(speaker: usize, mel: &Mel) -> Self {
        Self { speaker, mel: mel.data.iter().map(|&value| f16::from_f32(value)).collect() }
    }
}

/// The encoder with a direction for each speaker of the corpus. The directions are discarded after the training.
#[derive(Module, Debug)]
pub struct Trainee {
    pub encoder: SpeakerEncoder,
    /// `[EMBEDDING, speakers]`
    pub directions: Param<Tensor<2>>,
}

/// A batch of windows.
pub struct SpeakerBatch {
    clips: Clips,
    /// `[B, T, M]`
    mels: Tensor<3>,
    /// `[B, 1]`
    speakers: Tensor<2, Int>,
}

impl Data for SpeakerBatch {
    fn clips(&self) -> &Clips {
        &self.clips
    }

    fn tensors(&self) -> Vec<(&'static str, Value)> {
        vec![("spectrogram", Value::from_tensor(&self.mels))]
    }
}

impl TrainableModel for Trainee {
    type Batch = SpeakerBatch;

    const LOSSES: &'static [&'static str] = &["speakers"];
    const CRITERION: usize = 0;

    fn losses(&self, batch: &SpeakerBatch, mode: Mode) -> Vec<Tensor<1>> {
        let [items, frames, _] = batch.mels.dims();
        let noise =
            (mode == Mode::Train).then(|| gaussian([items, frames, POOLED], NOISE, &batch.mels.device()));
        let vectors = self.encoder.forward(batch.mels.clone(), noise, mode);
        vec![margin_loss(vectors, self.directions.val(), batch.speakers.clone())]
    }
}

/// Computes the cross-entropy of cosines, after the angle to the correct speaker is increased by [`MARGIN`].
///
/// * `vectors`:    `[B, EMBEDDING]`
/// * `directions`: `[EMBEDDING, K]`
/// * `speakers`:   `[B, 1]`
fn margin_loss(vectors: Tensor<2>, directions: Tensor<2>, speakers: Tensor<2, Int>) -> Tensor<1> {
    let unit =
        |x: Tensor<2>, along: usize| x.clone() / x.powi_scalar(2).sum_dim(along).clamp_min(1e-8).sqrt();
    let cosines = unit(vectors, 1).matmul(unit(directions, 0)); // (B, EMBEDDING) x (EMBEDDING, K)
    let own = cosines.clone().gather(1, speakers.clone()).clamp(-0.999, 0.999);
    let sines = own.clone().powi_scalar(2).neg().add_scalar(1.0).sqrt();
    let wider = own.clone().mul_scalar(MARGIN.cos()) - sines.mul_scalar(MARGIN.sin());
    let classes = cosines.dims()[1];
    let is_own = speakers
        .clone()
        .equal(Tensor::<1, Int>::arange(0..classes as i64, &speakers.device()).unsqueeze_dim::<2>(0))
        .float(); // (B, K)
    let logits = (cosines + is_own * (wider - own)).mul_scalar(SHARPNESS);
    log_softmax(logits, 1).gather(1, speakers).mean().neg()
}

/// A source of batches of windows.
struct SampleSource<'a> {
    samples: &'a [Sample],
    mels: usize,
    hyperparameters: &'a Hyperparameters,
    train: BatchSampler,
    held_out: BatchSampler,
}

impl Collate for SampleSource<'_> {
    type HostBatch = SpeakerBatch;
    type Batch = SpeakerBatch;

    fn make(&self, key: BatchKey, cpu: &Device) -> Result<SpeakerBatch> {
        let Hyperparameters { batch, window, seed, .. } = *self.hyperparameters;
        let items = match key {
            BatchKey::Train(step) => self.train.batch(step),
            BatchKey::HeldOut(number) => self.held_out.batch(number),
        };
        // Samples have no names.
        let whole = items.iter().map(|item| format!("sample-{item}")).collect();
        let (mut mels, mut speakers) =
            (Vec::with_capacity(batch * window * self.mels), Vec::with_capacity(batch));
        for (place, item) in items.into_iter().enumerate() {
            let sample = &self.samples[item];
            let first = key.random(seed, place).random_range(0..=sample.mel.len() / self.mels - window);
            mels.extend(
                sample.mel[first * self.mels..][..window * self.mels].iter().map(|value| value.to_f32()),
            );
            speakers.push(sample.speaker as i32);
        }
        Ok(SpeakerBatch {
            clips: Clips { whole, shard: Shard::WHOLE },
            mels: Tensor::from_data(TensorData::new(mels, [batch, window, self.mels]), cpu),
            speakers: Tensor::from_data(TensorData::new(speakers, [batch, 1]), cpu),
        })
    }

    fn place(&self, made: SpeakerBatch, device: &Device) -> SpeakerBatch {
        // The augmentation needs no gradients.
        let clean = made.mels.to_device(device).inner();
        let mels = Tensor::from_inner(augment(clean));
        SpeakerBatch { mels, speakers: made.speakers.to_device(device), ..made }
    }
}

/// Trains to the last step. Returns the encoder and its held-out loss.
pub fn train(
    samples: &[Sample],
    mels: usize,
    run_config: &RunConfig,
    report: &dyn Report,
) -> Result<(SpeakerEncoder, f32)> {
    let RunConfig { hyperparameters, device, .. } = run_config;
    let speakers = samples.iter().map(|sample| sample.speaker + 1).max().unwrap_or(0);
    let usable =
        (0..samples.len()).filter(|&index| samples[index].mel.len() >= hyperparameters.window * mels);
    let (train, held_out) = split(usable)?;
    if speakers < 2 {
        return Err(Error::corpus_invalid("too few speakers to train on"));
    }
    device.seed(hyperparameters.seed);
    let directions = Initializer::Normal { mean: 0.0, std: 1.0 }.init([EMBEDDING, speakers], device);
    let run = Run::open(Trainee { encoder: SpeakerEncoder::new(mels, device), directions }, run_config)?;
    let order = |from: Vec<usize>, seed| {
        BatchSampler::new(from.into_iter().map(|item| (item, 0)), hyperparameters.batch, seed)
    };
    let source = SampleSource {
        samples,
        mels,
        hyperparameters,
        train: order(train, hyperparameters.seed),
        held_out: order(held_out, 0),
    };
    let (trained, loss) = run.finish(&source, report)?;
    Ok((trained.encoder, loss))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_increases_the_loss_of_the_correct_speaker() {
        let device = Device::flex();
        let vectors = Tensor::<2>::from_floats([[2.0, 0.0]], &device);
        let directions = Tensor::<2>::from_floats([[3.0, 0.0], [0.0, 1.0]], &device);
        let loss = |speaker: i32| {
            margin_loss(vectors.clone(), directions.clone(), Tensor::from_data([[speaker]], &device))
                .into_scalar::<f32>()
        };
        // The cosines are 1 and 0: -log softmax of 24 cos(0.2 + acos 0.999) against 0, and of 24 cos(0.2 + acos 0) against 24.
        assert!(
            loss(0) < 1e-6 && (loss(1) - 24.0 * (1.0 + 0.2f32.sin())).abs() < 0.05,
            "{} {}",
            loss(0),
            loss(1)
        );
    }

    #[test]
    fn three_speakers_are_distinguished_after_a_few_steps() {
        // The power of each speaker is in another third of the spectrum.
        let clip = |speaker: usize, seed: usize| {
            Mel {
            mels: 80,
            data: (0..40 * 80).map(|at| if at % 80 / 27 == speaker { -2.0 } else { -7.0 } + ((at * 7919 + seed * 31) % 100) as f32 / 100.0).collect(),
        }
        };
        let samples: Vec<Sample> =
            (0..120).map(|index| Sample::new(index % 3, &clip(index % 3, index))).collect();
        let folder = tempfile::tempdir().unwrap();
        let hyperparameters = Hyperparameters {
            steps: 40,
            batch: 8,
            window: 30,
            rate_start: 3e-3,
            checkpoint_every: 20,
            ..Hyperparameters::speaker_encoder()
        };
        let run_config = RunConfig::new(hyperparameters, folder.path().to_path_buf(), &Device::flex());
        let (encoder, loss) = train(&samples, 80, &run_config, &()).unwrap();
        assert!(loss < 1.0, "{loss}");
        let vector = |speaker: usize| {
            let mel =
                Tensor::from_data(TensorData::new(clip(speaker, 999).data, [1, 40, 80]), &Device::flex());
            encoder.valid().forward(mel, None, Mode::Eval).into_data().try_to_vec::<f32>().unwrap()
        };
        let cosine = |a: &[f32], b: &[f32]| {
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
            dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
        };
        assert!(cosine(&vector(0), &vector(1)) < 0.5 && cosine(&vector(1), &vector(2)) < 0.5);
    }

    #[test]
    fn a_single_speaker_is_refused() {
        let samples: Vec<Sample> =
            (0..60).map(|_| Sample::new(0, &Mel { mels: 80, data: vec![-3.0; 200 * 80] })).collect();
        let folder = tempfile::tempdir().unwrap();
        let run_config =
            RunConfig::new(Hyperparameters::speaker_encoder(), folder.path().to_path_buf(), &Device::flex());
        assert_eq!(train(&samples, 80, &run_config, &()).err().unwrap().code(), "corpus-invalid");
    }
}
