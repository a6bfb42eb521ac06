//! The microphone, through web-sys: no echo cancellation, noise suppression or gain control, at the device's own rate.
//!
//! The page runs this on its own thread, since audio worklets need a window. An [`AudioContext`] and its worklet are prepared while the
//! page loads, so that nothing is fetched later; the microphone itself opens only when asked for.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Array, Float32Array, Function, Promise};
use ownvoice::audio::level::{peak_db, rms_db};
use tsify::Ts;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    AudioContext, AudioContextState, AudioWorkletNode, DomException, MediaStream, MediaStreamAudioSourceNode,
    MediaStreamConstraints, MediaStreamTrack, MediaTrackConstraints, MessageEvent,
};

use crate::{convert::to_js, error::js_error, objects::Audio};

/// The name under which `capture-worklet.js` registers itself.
const PROCESSOR: &str = "ownvoice-capture";

/// Longest recording kept, so that a forgotten tab does not fill the memory.
const MAX_SECONDS: usize = 120;

/// The silence that takes the place of sound that is lost, in seconds. How much is lost is not known.
const LOST_SECONDS: f32 = 0.5;

/// Longest wait for the audio thread: a context that the browser holds back, for example during a telephone call, never answers.
const MAX_RESUME_MS: i32 = 8000;

/// The visitor's microphone.
#[wasm_bindgen]
pub struct Microphone {
    context: AudioContext,
    /// The samples of the recording under way, if any.
    recording: Rc<RefCell<Option<Vec<f32>>>>,
    open: RefCell<Option<Open>>,
    /// The number of calls of `close`, by which an `open` under way notices one.
    closed: Cell<u32>,
}

/// A stream whose tracks stop when it is dropped, on every path out of `open` too. The browser's recording sign then disappears.
struct Stream(MediaStream);

impl Stream {
    fn tracks(&self) -> impl Iterator<Item = MediaStreamTrack> {
        self.0.get_audio_tracks().into_iter().map(|track| track.unchecked_into())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        for track in self.tracks() {
            track.set_onended(None);
            track.stop();
        }
    }
}

/// The objects of an open microphone.
struct Open {
    _stream: Stream,
    source: MediaStreamAudioSourceNode,
    node: AudioWorkletNode,
    _on_chunk: Closure<dyn FnMut(MessageEvent)>,
    _on_ended: Closure<dyn FnMut()>,
    _on_state: Closure<dyn FnMut()>,
}

#[wasm_bindgen]
impl Microphone {
    /// Creates the audio context and fetches the worklet. The microphone stays closed.
    pub async fn prepare(worklet_url: String) -> Result<Microphone, JsValue> {
        let context = AudioContext::new()?;
        let microphone =
            Self { context, recording: Rc::default(), open: RefCell::default(), closed: Cell::default() };
        let fetched = JsFuture::from(microphone.context.audio_worklet()?.add_module(&worklet_url)?).await;
        if let Err(error) = fetched {
            microphone.end();
            return Err(error);
        }
        Ok(microphone)
    }

    /// Opens the microphone of an id, or the browser's choice. `onLevel(peakDb, levelDb)` is called some 20 times a second, `onLost()` when the device is unplugged.
    pub async fn open(
        &self,
        #[wasm_bindgen(js_name = onLevel, unchecked_param_type = "(peakDb: number, levelDb: number) => void")]
        on_level: Function,
        #[wasm_bindgen(js_name = onLost, unchecked_param_type = "() => void")] on_lost: Function,
        #[wasm_bindgen(js_name = deviceId, unchecked_param_type = "ConstrainDOMString | undefined")]
        device_id: JsValue,
    ) -> Result<(), JsValue> {
        self.close();
        let before = self.closed.get();
        let stream = Stream(request_stream(device_id).await?);
        self.resume().await?;
        if self.closed.get() != before {
            return Err(js_error("microphone-closed", "the microphone was closed while it was being opened"));
        }

        let source = self.context.create_media_stream_source(&stream.0)?;
        let node = AudioWorkletNode::new(&self.context, PROCESSOR)?;
        let recording = self.recording.clone();
        let max_samples = MAX_SECONDS * self.context.sample_rate() as usize;
        let on_chunk = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            let chunk = event.data().unchecked_into::<Float32Array>().to_vec();
            let _ = on_level.call2(&JsValue::NULL, &peak_db(&chunk).into(), &rms_db(&chunk).into());
            if let Some(samples) = recording.borrow_mut().as_mut() {
                let room = max_samples.saturating_sub(samples.len()).min(chunk.len());
                samples.extend_from_slice(&chunk[..room]);
            }
        });
        node.port()?.set_onmessage(Some(on_chunk.as_ref().unchecked_ref()));
        source.connect_with_audio_node(&node)?;

        let on_ended = Closure::<dyn FnMut()>::new(move || drop(on_lost.call0(&JsValue::NULL)));
        for track in stream.tracks() {
            track.set_onended(Some(on_ended.as_ref().unchecked_ref()));
        }
        // The system may suspend the context, for example during a call. The sound before and after must not be joined, as if nothing were missing.
        let (context, recording) = (self.context.clone(), self.recording.clone());
        let on_state = Closure::<dyn FnMut()>::new(move || {
            if context.state() == AudioContextState::Running {
                return;
            }
            if let Some(samples) = recording.borrow_mut().as_mut() {
                let silence = (LOST_SECONDS * context.sample_rate()) as usize;
                samples.resize((samples.len() + silence).min(max_samples), 0.0);
                if let Ok(resumed) = context.resume() {
                    // It fails while the interruption lasts; what it would report is in the recording already.
                    spawn_local(async { drop(JsFuture::from(resumed).await) });
                }
            }
        });
        self.context.set_onstatechange(Some(on_state.as_ref().unchecked_ref()));
        *self.open.borrow_mut() = Some(Open {
            _stream: stream,
            source,
            node,
            _on_chunk: on_chunk,
            _on_ended: on_ended,
            _on_state: on_state,
        });
        Ok(())
    }

    #[wasm_bindgen(getter, js_name = isOpen)]
    pub fn is_open(&self) -> bool {
        self.open.borrow().is_some()
    }

    /// Starts a recording and drops an earlier one that `stop` has not returned.
    pub fn record(&self) -> Result<(), JsValue> {
        if !self.is_open() {
            return Err(js_error("microphone-closed", "the microphone is not open"));
        }
        *self.recording.borrow_mut() = Some(Vec::new());
        Ok(())
    }

    /// Ends the recording and returns it; the microphone stays open.
    pub fn stop(&self) -> Result<Ts<Audio>, JsValue> {
        let samples = self.recording.borrow_mut().take().unwrap_or_default();
        to_js(&Audio { samples, sample_rate: self.context.sample_rate() as u32 })
    }

    /// Releases the microphone, so that the browser's recording sign disappears.
    pub fn close(&self) {
        self.closed.set(self.closed.get() + 1);
        self.recording.borrow_mut().take();
        let Some(open) = self.open.borrow_mut().take() else { return };
        if let Ok(port) = open.node.port() {
            port.set_onmessage(None);
        }
        self.context.set_onstatechange(None);
        // It fails where the nodes are disconnected already.
        let _ = open.source.disconnect();
        let _ = self.context.suspend();
    }

    /// Releases the microphone and the browser's audio thread. It cannot be opened again.
    pub fn end(&self) {
        self.close();
        if self.context.state() != AudioContextState::Closed {
            let _ = self.context.close();
        }
    }
}

impl Microphone {
    /// Starts the audio thread, or fails with `microphone-failed`.
    async fn resume(&self) -> Result<(), JsValue> {
        let late = Promise::new(&mut |_, reject| {
            let window = web_sys::window().expect("the microphone needs a window");
            let _ = window.set_timeout_with_callback_and_timeout_and_arguments_0(&reject, MAX_RESUME_MS);
        });
        let first = Promise::race(&Array::of2(&self.context.resume()?.into(), &late.into()));
        match JsFuture::from(first).await {
            Ok(_) => Ok(()),
            Err(_) => Err(js_error(
                "microphone-failed",
                "the browser did not start the audio; another program may be using the sound",
            )),
        }
    }
}

/// Requests the microphone without the processing that browsers apply to calls.
async fn request_stream(device_id: JsValue) -> Result<MediaStream, JsValue> {
    let Ok(devices) = web_sys::window().expect("the microphone needs a window").navigator().media_devices()
    else {
        return Err(js_error(
            "microphone-unavailable",
            "this page is not served over HTTPS, so the browser offers no microphone",
        ));
    };
    let audio = MediaTrackConstraints::new();
    audio.set_echo_cancellation(&false.into());
    audio.set_noise_suppression(&false.into());
    audio.set_auto_gain_control(&false.into());
    if !device_id.is_undefined() {
        audio.set_device_id(&device_id);
    }
    let constraints = MediaStreamConstraints::new();
    constraints.set_audio(&audio.into());
    match JsFuture::from(devices.get_user_media_with_constraints(&constraints)?).await {
        Ok(stream) => Ok(stream.unchecked_into()),
        Err(error) => Err(refusal(error)),
    }
}

/// Converts the browser's refusal into an error with a code.
fn refusal(error: JsValue) -> JsValue {
    let (name, message) = match error.dyn_ref::<DomException>() {
        Some(error) => (error.name(), error.message()),
        None => (String::new(), format!("{error:?}")),
    };
    match name.as_str() {
        "NotAllowedError" | "SecurityError" => {
            js_error("microphone-denied", "the microphone was not allowed; allow it beside the address bar")
        }
        "NotFoundError" | "OverconstrainedError" => {
            js_error("microphone-missing", "no microphone is connected")
        }
        _ => js_error("microphone-failed", &format!("the microphone could not be opened: {message}")),
    }
}
