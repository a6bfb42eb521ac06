//! Training of clones of a tiny base: losses, stop rules, checkpoints, helpers and faults.

mod common;

use burn::module::Param;
use burn_fused::{
    Precision,
    precision::Culprit,
    ranks::shard::Shard,
    weights::{Storage, deserialize, serialize},
};
use common::{options, run, run_with, say};
use ownvoice::{
    audio::mel::Mel,
    clone::{
        FineTuner, Step, TuneStop,
        alignment_snapshot::AlignmentSnapshot,
        anchors::anchors,
        clip::Clip,
        helper::Helper,
        options::{AdvancedCloneOptions, CloneOptions, StopRule, ValidationMetrics},
    },
    synth::SpeakOptions,
    voice::Voice,
};
use ownvoice_testing::{held_out_clips, on_device, tiny_base};
use pollster::block_on;

#[test]
fn the_loss_falls_and_all_iterations_run() {
    let base = tiny_base();
    let (voice, steps) =
        run_with(&base, &held_out_clips(3), CloneOptions { stop_rule: StopRule::Fixed, ..options(200) });
    assert_eq!(steps.len(), 200);
    assert_eq!(steps[199].stop, Some(TuneStop::Iterations));
    let mean = |steps: &[Step]| steps.iter().map(|step| step.loss).sum::<f32>() / steps.len() as f32;
    let (first, last) = (mean(&steps[..20]), mean(&steps[180..]));
    assert!(last < 0.9 * first, "{first} to {last}");
    assert!(voice.info().adapted && voice.info().seconds > 15.0, "{:?}", voice.info());
}

/// Returns the trained parameters.
fn weights(tuner: &FineTuner) -> Vec<f32> {
    let mut weights = vec![0.0; tuner.flat_buffer_len()];
    block_on(tuner.put_weights_async(std::slice::from_mut(&mut weights))).unwrap();
    weights
}

/// Helpers that compute shards of each iteration give the same parameters as a single worker, also in the cooldown and when a helper fails.
#[test]
fn helpers_do_not_change_the_result() {
    let (base, clips) = (tiny_base(), held_out_clips(6));
    let start = || {
        block_on(FineTuner::start_async(&base, &clips, CloneOptions { rehearsal: 0.3, ..options(29) }))
            .unwrap()
    };
    let (mut alone, mut shared) = (start(), start());
    let worker_init = block_on(shared.worker_init_async()).unwrap();
    let mut helpers = [0, 1].map(|_| Helper::open(&worker_init, &base.device).unwrap());
    for iteration in 0..6 {
        let weights = weights(&shared);
        let in_cooldown = shared.in_cooldown();
        assert_eq!(in_cooldown, iteration >= 4);
        let mut help = |number: usize| {
            let shard = Shard { rank: number + 1, world_size: 3 };
            let mut buffer = weights.clone();
            block_on(helpers[number].gradients_async(iteration, in_cooldown, &mut buffer, shard)).unwrap();
            buffer
        };
        let helped = if iteration == 3 { None } else { Some(vec![help(0), help(1)]) };
        let (expected, found) = (
            block_on(alone.step_async()).unwrap(),
            block_on(shared.step_with_async(2, async || helped)).unwrap(),
        );
        assert!(
            (expected.loss - found.loss).abs() < 1e-4,
            "iteration {iteration}: {} and {}",
            expected.loss,
            found.loss
        );
    }
    let [expected, found] = [&alone, &shared].map(weights);
    let worst = expected.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 1e-3, "weights differ by {worst}");
    let begun = weights(&start());
    assert!(expected.iter().zip(&begun).any(|(a, b)| (a - b).abs() > 5e-3), "the parameters must change");

    let mixed = CloneOptions { precision: Precision::Mixed, ..options(6) };
    let mixed = block_on(FineTuner::start_async(&base, &clips, mixed)).unwrap();
    assert_eq!(block_on(mixed.worker_init_async()).unwrap_err().code(), "option-invalid");
    let code = |worker_init: &[u8]| Helper::open(worker_init, &base.device).map(|_| ()).unwrap_err().code();
    assert_eq!(code(b"nonsense"), "checkpoint-corrupt");
    assert!(
        block_on(helpers[0].gradients_async(0, false, &mut found[1..].to_vec(), Shard::WHOLE)).is_err(),
        "a buffer of the wrong length"
    );
}

/// Rehearsal keeps the spectral shape of a sentence that is not in the clips closer to the base's, with the same timing and pitch.
#[test]
fn rehearsal_reduces_forgetting() {
    let (base, clips) = (tiny_base(), held_out_clips(3));
    let text = "The rabbit did not wait for a better offer.";
    let mel = |voice: &Voice| say(voice, text, &SpeakOptions::default()).unwrap().mel;
    // The mean of each band is removed, because it depends on the speaker.
    let shape = |mel: Mel| {
        let count = mel.frames() as f32;
        let mean = |band: usize| mel.data.iter().skip(band).step_by(mel.mels).sum::<f32>() / count;
        let means: Vec<f32> = (0..mel.mels).map(mean).collect();
        mel.data.iter().enumerate().map(|(at, value)| value - means[at % mel.mels]).collect::<Vec<f32>>()
    };
    let forgotten = |rehearsal: f32| {
        // A decoder that learns fast forgets much.
        let advanced = AdvancedCloneOptions { decoder_rate_multiplier: 1.0, ..options(100).advanced };
        let options = CloneOptions { rehearsal, advanced, stop_rule: StopRule::Fixed, ..options(100) };
        let (mut voice, _) = run_with(&base, &clips, options);
        let said = shape(mel(&voice));
        let speaker = voice.timing_speaker.clone();
        voice.parts = Voice::unadapted(&base).parts;
        voice.parts.speaker = Param::from_tensor(speaker);
        voice.spectral_transport = None;
        let before = shape(mel(&voice));
        said.iter().zip(&before).map(|(a, b)| (a - b).abs()).sum::<f32>() / before.len() as f32
    };
    let (with, without) = (forgotten(1.0), forgotten(0.0));
    assert!(with < 0.8 * without, "{with} with rehearsal, {without} without");
}

/// The loss falls as far in mixed precision as in single precision, although products are rounded.
#[test]
fn mixed_precision_learns_as_well_as_single() {
    let base = tiny_base();
    let clips = held_out_clips(3);
    let learned = |precision| {
        let (voice, steps) =
            run_with(&base, &clips, CloneOptions { precision, stop_rule: StopRule::Fixed, ..options(200) });
        assert!(steps[199].overflows < 5, "{}", steps[199].overflows);
        let mean = |steps: &[Step]| steps.iter().map(|step| step.loss).sum::<f32>() / steps.len() as f32;
        (mean(&steps[160..]) / mean(&steps[5..25]), block_on(voice.save_async()).unwrap())
    };
    let ((single, single_voice), (mixed, mixed_voice)) = (learned(Precision::F32), learned(Precision::Mixed));
    assert!(
        single < 0.9 && (mixed / single - 1.0).abs() < 0.1,
        "the losses fell to {single} and {mixed} of the first"
    );
    assert_ne!(single_voice, mixed_voice);
}

#[test]
fn faults_in_training_are_named() {
    let (base, clips) = (tiny_base(), held_out_clips(3));
    let start = |fault: Option<&str>| {
        let faults = fault.iter().map(|fault| fault.parse().unwrap()).collect();
        let advanced = AdvancedCloneOptions { faults, ..options(40).advanced };
        let options = CloneOptions { precision: Precision::Mixed, advanced, ..options(40) };
        block_on(FineTuner::start_async(&base, &clips, options)).unwrap()
    };
    let mut sound = start(None);
    for _ in 0..6 {
        let step = block_on(sound.step_async()).unwrap();
        assert_eq!((step.overflows, step.fault), (0, None));
    }
    assert_eq!(block_on(sound.fault_async()).unwrap(), None);

    // Forward: the loss becomes NaN, and the error names the first operation with non-finite output.
    let mut forward = start(Some("overflow:postnet.convolutions.1:convolution"));
    let error = block_on(forward.step_async()).unwrap_err();
    assert_eq!(error.code(), "training-diverged");
    let named = "postnet.convolutions.1: convolution overflows in half precision, and not in single";
    assert!(error.to_string().contains(named), "{error}");
    let (iteration, culprit) = block_on(forward.fault_async()).unwrap().unwrap();
    assert!(iteration == 1 && matches!(culprit, Culprit::Forward { overflows: true, .. }), "{culprit}");

    // Backward: updates are skipped, and the causes of the first few are reported.
    let mut backward = start(Some("nan:decoder.second:lstm:w_hh"));
    let steps: Vec<Step> = (0..20).map(|_| block_on(backward.step_async()).unwrap()).collect();
    assert_eq!(steps[19].overflows, 20);
    let faults: Vec<&String> = steps.iter().filter_map(|step| step.fault.as_ref()).collect();
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert!(
        faults[0].starts_with(
            "iteration 1: decoder.second: the backward pass of lstm returns a non-finite gradient"
        ),
        "{faults:?}"
    );
}

#[test]
fn the_stop_rule_chooses_the_weights_by_held_out_clips() {
    let base = tiny_base();
    let learn = |stop_rule| {
        let (voice, steps) = run_with(&base, &held_out_clips(6), CloneOptions { stop_rule, ..options(100) });
        let validations: Vec<ValidationMetrics> = steps.iter().filter_map(|step| step.validation).collect();
        assert_eq!(validations.len(), 3);
        let [before, after] = voice.info().held_out_loss.unwrap();
        assert!(before.is_finite() && before != after);
        let kept = *validations
            .iter()
            .find(|metrics| metrics.loss == after)
            .expect("the kept weights were validated");
        (validations, kept)
    };
    let (validations, kept) = learn(StopRule::Fixed);
    assert_eq!(kept, validations[2]);
    let (validations, kept) = learn(StopRule::Loss);
    assert_eq!(kept.loss, validations.iter().map(|metrics| metrics.loss).fold(f32::INFINITY, f32::min));
    let (validations, kept) = learn(StopRule::Voice);
    let better = |metrics: &&ValidationMetrics| {
        metrics.similarity > kept.similarity + 0.02 && metrics.phoneme_error_rate <= kept.phoneme_error_rate
    };
    assert_eq!(validations.iter().find(better), None, "a better validation than {kept:?} was not kept");
}

/// The steps are so large that about every second validation is worse than the one before.
#[test]
fn the_cooldown_starts_from_the_best_parameters() {
    let (base, clips) = (tiny_base(), held_out_clips(6));
    let worsened = (1..=8).any(|seed| {
        let advanced = AdvancedCloneOptions { rate: 1.0, ..options(100).advanced };
        let options = CloneOptions { stop_rule: StopRule::Loss, seed, advanced, ..options(100) };
        let mut tuner = block_on(FineTuner::start_async(&base, &clips, options)).unwrap();
        let mut best = (f32::INFINITY, Vec::new());
        let mut last = f32::INFINITY;
        while !tuner.in_cooldown() {
            let Some(metrics) = block_on(tuner.step_async()).unwrap().validation else { continue };
            last = metrics.loss;
            if last < best.0 {
                best = (last, weights(&tuner));
            }
        }
        assert!(best.1 == weights(&tuner), "seed {seed}");
        last > best.0
    });
    assert!(worsened, "no seed gave a last validation that is worse than the best");
}

#[test]
fn training_without_improvement_cools_down_and_ends() {
    let base = tiny_base();
    let learn = |stop_rule| run_with(&base, &held_out_clips(6), CloneOptions { stop_rule, ..options(400) }).1;
    assert_eq!(learn(StopRule::Fixed).len(), 400);
    let steps = learn(StopRule::Voice);
    let (last, planned) = (
        steps.last().unwrap(),
        steps
            .iter()
            .position(|step| step.iterations < 400)
            .expect("the cooldown is announced before it ends"),
    );
    assert_eq!(
        (last.stop, last.iteration, last.iterations),
        (Some(TuneStop::HeldOut), steps.len(), steps.len())
    );
    assert_eq!(planned + 1 + 25, steps.len(), "the rates fall over 25 iterations");
    assert!(
        steps[planned].validation.is_some() && planned >= 75 - 1,
        "at least two validations without improvement after the first: {planned}"
    );
}

/// At a validation the state is rounded, whether or not a checkpoint is taken, so that a checkpoint is small and resuming from it is exact.
#[test]
fn a_checkpoint_at_a_validation_is_small_and_exact() {
    let base = tiny_base();
    let clips = held_out_clips(2);
    let whole = run(&base, &clips, 60).0;
    let mut tuner = block_on(FineTuner::start_async(&base, &clips, options(60))).unwrap();
    let mut checkpoints = Vec::new();
    for iteration in 1..=50 {
        block_on(tuner.step_async()).unwrap();
        if [24, 25, 50].contains(&iteration) {
            checkpoints.push(block_on(tuner.checkpoint_async()).unwrap());
        }
    }
    // At iteration 24 there are no best parameters yet: three tensors of four bytes per parameter. Later there are four tensors of two bytes.
    let [between, first, second] = checkpoints.try_into().unwrap();
    assert!(first.len() * 100 < between.len() * 72, "{} of {}", first.len(), between.len());
    for (checkpoint, iteration) in [(first, 25), (second, 50)] {
        let mut tuner = block_on(FineTuner::resume_async(&base, &clips, &checkpoint)).unwrap();
        assert_eq!(tuner.iteration(), iteration);
        while block_on(tuner.step_async()).unwrap().stop.is_none() {}
        let resumed = block_on(tuner.finish_async()).unwrap();
        assert_eq!(block_on(whole.save_async()).unwrap(), block_on(resumed.save_async()).unwrap());
    }
}

#[test]
fn a_resumed_training_gives_the_same_voice() {
    let base = tiny_base();
    let clips = held_out_clips(2);
    let whole = run(&base, &clips, 12).0;
    let mut tuner = block_on(FineTuner::start_async(&base, &clips, options(12))).unwrap();
    for _ in 0..7 {
        block_on(tuner.step_async()).unwrap();
    }
    let checkpoint = block_on(tuner.checkpoint_async()).unwrap();
    drop(tuner);
    let mut tuner = block_on(FineTuner::resume_async(&base, &clips, &checkpoint)).unwrap();
    assert_eq!(tuner.iteration(), 7);
    while block_on(tuner.step_async()).unwrap().stop.is_none() {}
    let resumed = block_on(tuner.finish_async()).unwrap();
    assert_eq!(block_on(whole.save_async()).unwrap(), block_on(resumed.save_async()).unwrap());
    for cut in [0, 8, checkpoint.len() / 2, checkpoint.len() - 1] {
        let error = block_on(FineTuner::resume_async(&base, &clips, &checkpoint[..cut])).err().unwrap();
        assert_eq!(error.code(), "checkpoint-corrupt");
    }
    // A state of the optimizer that does not fit the model is refused.
    for prefix in ["adam.first.", "adam.second.", "adam.scaling"] {
        let (mut tensors, metadata) = deserialize(&checkpoint).unwrap();
        let name = tensors.keys().find(|name| name.starts_with(prefix)).unwrap().clone();
        tensors.insert(name, (vec![1], vec![0.5]));
        let hostile = block_on(serialize(on_device(tensors), Storage::Full, metadata)).unwrap();
        assert_eq!(
            block_on(FineTuner::resume_async(&base, &clips, &hostile)).err().unwrap().code(),
            "checkpoint-corrupt",
            "{prefix}"
        );
    }
}

/// 2^53 + 1 has no exact double, so that a seed that is stored as a double would change.
#[test]
fn a_seed_above_the_exact_doubles_is_kept_in_a_checkpoint() {
    let (base, clips) = (tiny_base(), held_out_clips(2));
    let options = CloneOptions { seed: (1 << 53) + 1, ..options(6) };
    let whole = run_with(&base, &clips, options.clone()).0;
    let mut tuner = block_on(FineTuner::start_async(&base, &clips, options)).unwrap();
    for _ in 0..2 {
        block_on(tuner.step_async()).unwrap();
    }
    let checkpoint = block_on(tuner.checkpoint_async()).unwrap();
    let mut tuner = block_on(FineTuner::resume_async(&base, &clips, &checkpoint)).unwrap();
    while block_on(tuner.step_async()).unwrap().stop.is_none() {}
    let resumed = block_on(tuner.finish_async()).unwrap();
    assert_eq!(block_on(whole.save_async()).unwrap(), block_on(resumed.save_async()).unwrap());
}

#[test]
fn the_alignment_snapshot_approaches_the_recording() {
    let base = tiny_base();
    let advanced = AdvancedCloneOptions { window: 128, ..options(150).advanced };
    let options = CloneOptions { advanced, ..options(150) };
    let mut tuner = block_on(FineTuner::start_async(&base, &held_out_clips(2), options)).unwrap();
    let before = block_on(tuner.picture_async()).unwrap();
    while block_on(tuner.step_async()).unwrap().stop.is_none() {}
    let after = block_on(tuner.picture_async()).unwrap();
    assert_eq!((&before.recorded, &before.durations), (&after.recorded, &after.durations));
    let frames = after.recorded.frames();
    assert_eq!((after.predicted.frames(), after.durations.iter().sum::<u32>() as usize), (frames, frames));
    assert_eq!(after.alignment.len(), frames * after.symbols.len());
    let error = |picture: &AlignmentSnapshot| {
        picture.predicted.data.iter().zip(&picture.recorded.data).map(|(a, b)| (a - b).abs()).sum::<f32>()
            / picture.recorded.data.len() as f32
    };
    assert!(error(&after) < error(&before), "{} to {}", error(&before), error(&after));
    // The last frame gives the first symbol no weight.
    assert_eq!(after.alignment[(frames - 1) * after.symbols.len()], 0.0);
    assert!(
        after.alignment.iter().all(|heard| (0.0..=1.0).contains(heard))
            && after.alignment.iter().any(|heard| *heard > 0.1)
    );
}

#[test]
fn the_similarity_of_a_clone_lies_between_its_anchors() {
    let base = tiny_base();
    let clips = held_out_clips(8);
    let (voice, _) = run(&base, &clips, 100);
    let mut calls = Vec::new();
    let found = block_on(anchors(&voice, &clips, async |done, of| {
        calls.push((done, of));
        true
    }))
    .unwrap();
    assert_eq!(calls, (0..8).map(|done| (done, 8)).collect::<Vec<_>>());
    assert!(
        found.base < found.clone && found.clone < found.same_speaker && found.same_speaker <= 1.0,
        "{found:?}"
    );
    let error =
        |clips: &[Clip], go_on| block_on(anchors(&voice, clips, async |_, _| go_on)).unwrap_err().code();
    assert_eq!(error(&clips[..1], true), "option-invalid");
    assert_eq!(error(&clips, false), "cancelled");
}

#[test]
fn variance_scale_is_measured_on_held_out_clips() {
    let base = tiny_base();
    // The spectrograms of such a small model have too little variance.
    for clips in [1, 3, 6] {
        let scale = run(&base, &held_out_clips(clips), 5).0.global_variance_scale;
        assert!(scale.iter().any(|scale| *scale > 1.05), "{clips} clips: {scale:?}");
    }
}

#[test]
fn a_preview_does_not_change_the_training() {
    let base = tiny_base();
    let clips = held_out_clips(2);
    let whole = run(&base, &clips, 6).0;
    let mut tuner = block_on(FineTuner::start_async(&base, &clips, options(6))).unwrap();
    let mut previews = Vec::new();
    while block_on(tuner.step_async()).unwrap().stop.is_none() {
        previews.push(say(&tuner.preview(), "Good morning.", &SpeakOptions::default()).unwrap().mel);
    }
    assert!(previews.len() == 5 && previews[0] != previews[4], "previews change during training");
    let previewed = block_on(tuner.finish_async()).unwrap();
    assert_eq!(block_on(whole.save_async()).unwrap(), block_on(previewed.save_async()).unwrap());
}
