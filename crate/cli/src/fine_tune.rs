//! Reads the clips of a folder, and runs a fine-tuning on them to its end.

use std::path::Path;

use crate::corpus::layouts;
use ownvoice::{
    Error, Result,
    clone::{
        FineTuner,
        clip::Clip,
        options::{CloneOptions, ValidationMetrics},
    },
    report::{Progress, Report},
    voice::{Base, Voice},
};

/// Reads the clips of an LJSpeech-style folder up to a number of seconds, or one recording with a text file beside it, such as `minute.m4a` and `minute.txt`.
pub fn read_clips(path: &Path, seconds: Option<f32>) -> Result<Vec<Clip>> {
    if path.is_file() {
        return match seconds {
            None => Ok(vec![Clip::open(path, layouts::read_text(&path.with_extension("txt"))?)?]),
            Some(_) => Err(Error::corpus_invalid("a single recording is used as a whole; omit --seconds")),
        };
    }
    let mut clips = Vec::new();
    let mut total = 0.0;
    for recording in layouts::load(path)? {
        if seconds.is_some_and(|limit| total >= limit) {
            break;
        }
        let clip = Clip::open(&recording.path, recording.text)?;
        total += clip.audio.seconds();
        clips.push(clip);
    }
    Ok(clips)
}

/// Fine-tunes a base to the end. Reports a note at each validation and at the end.
pub fn fine_tune(base: &Base, clips: &[Clip], options: CloneOptions, report: &dyn Report) -> Result<Voice> {
    let mut tuner = FineTuner::start(base, clips, options)?;
    loop {
        let step = tuner.step()?;
        step.fault.iter().for_each(|fault| report.note(fault));
        report.progress(&Progress {
            done: step.iteration,
            of: Some(step.iterations),
            message: &format!("loss {:.3}", step.loss),
        });
        if let Some(ValidationMetrics { loss, similarity, phoneme_error_rate, global_variance_scale }) =
            step.validation
        {
            let held_out = format!(
                "held out {loss:.4}, similarity {similarity:.3}, phoneme errors {phoneme_error_rate:.2}, variance scale {global_variance_scale:.2?}"
            );
            report.note(&format!(
                "iteration {}: loss {:.4}, {held_out}, {:.1} s",
                step.iteration, step.loss, step.seconds
            ));
        }
        if let Some(stop) = step.stop {
            report.note(&format!(
                "{} iterations in {:.1} s; ended by {}",
                step.iteration,
                step.seconds,
                stop.name()
            ));
            if step.overflows > 0 {
                report.note(&format!(
                    "{} iterations were skipped, because half precision overflowed",
                    step.overflows
                ));
            }
            return tuner.finish();
        }
    }
}
