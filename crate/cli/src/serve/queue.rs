//! The queue of texts to speak, and the thread that speaks them one after the other.

use std::sync::Arc;

use tokio::sync::{
    OwnedSemaphorePermit, Semaphore,
    mpsc::{self, UnboundedReceiver, UnboundedSender},
};

use super::{ServedVoice, refusal::Refusal};
use ownvoice::{
    Result,
    audio::{resample::resample, wav},
    synth::{SpeakOptions, Speech},
};

/// The sample rate of all sound that is served, that of OpenAI's `pcm`. Speech of a vocoder with another rate is resampled.
pub const RATE_HZ: u32 = 24_000;
/// The most requests that wait, are spoken, or whose sound has not been read to its end. It bounds memory too: the longest text is half an hour of
/// speech, 70 MB.
const MAX_TURNS: usize = 16;

/// A text to speak.
pub struct Text {
    pub text: String,
    /// The index of the voice.
    pub voice: usize,
    pub options: SpeakOptions,
    /// Whether a long first sentence is cut after its first clause, so that its sound begins early.
    pub is_cut: bool,
}

/// A [`Text`] and where its sound goes.
pub struct Job {
    text: Text,
    sound: UnboundedSender<Result<Vec<u8>>>,
}

/// The place at which requests wait for their speech.
#[derive(Clone)]
pub struct Queue {
    jobs: UnboundedSender<Job>,
    turns: Arc<Semaphore>,
    /// Name and id of each voice.
    voices: Arc<[(String, String)]>,
}

/// Opens a queue; [`work`] receives its jobs.
pub fn open(voices: &[ServedVoice]) -> (Queue, UnboundedReceiver<Job>) {
    let (jobs, received) = mpsc::unbounded_channel();
    let voices = voices.iter().map(|voice| (voice.name.clone(), voice.id.clone())).collect();
    (Queue { jobs, turns: Arc::new(Semaphore::new(MAX_TURNS)), voices }, received)
}

impl Queue {
    /// Takes a turn, or refuses as `busy`.
    pub fn enter(&self) -> Result<Turn, Refusal> {
        let permit = self.turns.clone().try_acquire_owned().map_err(|_| Refusal::busy())?;
        Ok(Turn { jobs: self.jobs.clone(), _permit: permit })
    }

    /// Returns the names of the voices.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.voices.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the index and the id of a voice, or of the first if none is named.
    pub fn voice(&self, name: Option<&str>) -> Result<(usize, &str), Refusal> {
        let found = match name {
            None => Some(0),
            Some(name) => self.names().position(|own| own == name),
        };
        found.map(|index| (index, self.voices[index].1.as_str())).ok_or_else(|| {
            let names: Vec<_> = self.names().collect();
            let name = name.unwrap_or_default();
            Refusal::field(
                "voice",
                format!("there is no voice {name:?}; the voices are: {}", names.join(", ")),
            )
        })
    }
}

/// A place in the queue, which is free again when it is dropped.
pub struct Turn {
    jobs: UnboundedSender<Job>,
    _permit: OwnedSemaphorePermit,
}

impl Turn {
    /// Speaks a text, after those before it. Returns its sound, sentence by sentence, as 16-bit little-endian PCM with [`RATE_HZ`]; its last item may be an
    /// error. The synthesis ends after the current sentence if the sound is dropped.
    pub fn speak(&self, text: Text) -> UnboundedReceiver<Result<Vec<u8>>> {
        let (sound, received) = mpsc::unbounded_channel();
        // The queue is closed only while the program ends.
        let _ = self.jobs.send(Job { text, sound });
        received
    }
}

/// Speaks the texts of a queue until the queue is dropped.
pub fn work(voices: &[ServedVoice], mut jobs: UnboundedReceiver<Job>) {
    while let Some(Job { text, sound }) = jobs.blocking_recv() {
        if let Err(error) = speak(&voices[text.voice], &text, &sound) {
            let _ = sound.send(Err(error)); // The client may be gone.
        }
    }
}

/// Speaks a text as long as somebody receives its sound.
fn speak(voice: &ServedVoice, text: &Text, sound: &UnboundedSender<Result<Vec<u8>>>) -> Result<()> {
    if sound.is_closed() {
        return Ok(());
    }
    if !text.is_cut {
        let _ = sound.send(pcm(&voice.voice.speak_with(&text.text, &text.options)?));
        return Ok(());
    }
    let mut sentences = voice.voice.stream(&text.text, &text.options)?;
    while !sound.is_closed()
        && let Some(speech) = sentences.next()
    {
        let _ = sound.send(pcm(&speech?));
    }
    Ok(())
}

fn pcm(speech: &Speech) -> Result<Vec<u8>> {
    Ok(wav::pcm(&resample(&speech.samples, speech.sample_rate_hz, RATE_HZ)?))
}
