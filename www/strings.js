// Every word of the page, in one place. `{name}` is filled in.

export const strings = {
  "title": "ownvoice",
  "tagline": "Read for a minute. Hear your own voice say anything.",
  "trust": "Nothing leaves this page: it records, learns and speaks on this machine alone.",

  "load.program": "Fetching the program, {mb} MB",
  "load.base": "Fetching the base voice, {mb} of {total} MB",
  "load.starting": "Starting",
  "load.failed": "The page could not start",
  "load.reload": "Reload",

  "read.title": "Read a minute",
  "read.how": "Read each sentence aloud, the way you would say it to a friend. A quiet room and a hand's width from the microphone are best.",
  "read.source": "Where the speech comes from",
  "read.record": "Record here",
  "read.files": "Use WAV files",
  "read.total": "{have} of {want} of speech",
  "read.enough": "That is enough. More still helps.",
  "read.position": "Sentence {n} of {count}",
  "read.back": "Back",
  "read.next": "Next",
  "read.skip": "Skip",
  "read.start": "Record",
  "read.stop": "Stop",
  "read.again": "Record again",
  "read.play": "Play",
  "read.pause": "Stop",
  "read.discard": "Discard",
  "read.opening": "The browser asks whether the page may use the microphone.",
  "read.recording": "Recording. Read the sentence, then stop.",
  "read.checking": "Checking",
  "read.empty": "Not recorded yet.",
  "read.good": "Good: {seconds} s of speech, {snr} dB above the background.",
  "read.lost": "The microphone went away. What was recorded so far is kept.",
  "read.keys": "Keys: R records and stops, P plays, arrows move between sentences.",
  "read.closeMicrophone": "Turn the microphone off",
  "read.level": "Level",
  "read.none": "The base voice brings no sentences; use WAV files.",
  "read.list": "All sentences",
  "read.state.empty": "not recorded",
  "read.state.good": "recorded",
  "read.state.bad": "needs another try",

  "files.drop": "Drop WAV files here",
  "files.or": "or",
  "files.choose": "Choose files",
  "files.how": "Texts come from a metadata.csv of id|text among them, else from the file names of the sentences, else from the sentences in order.",
  "files.text": "What is said",
  "files.noText": "Say what is said in this clip.",
  "files.remove": "Remove",

  "train.title": "Let it learn",
  "train.device.webgpu": "It learns on your graphics card",
  "train.device.cpu": "It learns on your processor",
  "train.need": "Record or choose at least {seconds} seconds of good speech first.",
  "train.ready": "{clips} clips, {seconds} of speech.",
  "train.start": "Start learning",
  "train.again": "Learn again",
  "train.resume": "Go on from iteration {iteration}",
  "train.stop": "Stop and keep",
  "train.cancel": "Cancel",
  "train.aligning": "Finding where each sound is in your recordings",
  "train.warming": "Preparing the first iteration",
  "train.iteration": "Iteration {n} of {count}",
  "train.left": "{time} left",
  "train.finishing": "Keeping the best so far",
  "train.loss": "Loss (lower is nearer to your voice)",
  "train.lossNow": "Loss {loss}, from {first} at the start",
  "train.done": "Your voice is ready: {count} iterations in {time}.",
  "train.cancelled": "Cancelled. The recordings are still here.",
  "train.opened": "A saved voice is open.",

  "speak.title": "Speak",
  "speak.text": "What shall it say?",
  "speak.example": "Good morning. I am glad that you can hear me.",
  "speak.base": "Before",
  "speak.base.what": "the base voice",
  "speak.mine": "After",
  "speak.mine.what": "your voice",
  "speak.say": "Speak",
  "speak.stop": "Stop",
  "speak.working": "Speaking sentence {n} of {count}",
  "speak.wait": "Preparing",
  "speak.none": "Waits for your voice.",
  "speak.download": "Download WAV",
  "speak.save": "Save voice",
  "speak.open": "Open a voice",
  "speak.seconds": "{seconds} s",
  "speak.toldBase": "the base voice spoke for {seconds} s",
  "speak.toldMine": "your voice spoke for {seconds} s",

  "kept.some": "Kept in this browser, on this machine: recordings of {count} sentences, {mb} MB.",
  "kept.none": "Recordings are kept in this browser, on this machine, until you delete them.",
  "kept.not": "This browser keeps nothing for this page ({reason}): recordings are gone when the tab closes.",
  "kept.delete": "Delete everything",
  "kept.sure": "Delete all recordings and the voice in this page?",

  "error.download-failed": "Something could not be fetched. Check the connection and reload.",
  "error.base-corrupt": "The base voice is damaged. Reload; if that does not help, the server holds a broken copy.",
  "error.no-adapter": "WebGPU was asked for and is not there. Choose the CPU.",
  "error.storage-full": "The browser has no room left to keep this. Delete something, or go on without.",
  "error.worker-crashed": "The engine stopped unexpectedly. Your recordings are kept; reload the page.",
  "error.training-diverged": "Learning went astray. Try again, perhaps with clearer recordings.",
  "error.device-lost": "The graphics card was taken away. Your recordings are kept; reload the page and go on.",
  "error.clip-empty": "Nothing was recorded. Try again.",
  "error.clip-too-short": "Too short: read the whole sentence.",
  "error.clip-too-quiet": "Too quiet: move closer to the microphone, or turn it up.",
  "error.clip-clipped": "Too loud: move back from the microphone, or turn it down.",
  "error.clip-noisy": "Too noisy: find a quieter place, or move closer to the microphone.",
  "error.clip-mismatch": "That is not what the sentence says. Read it once more.",
  "error.audio-unreadable": "This is not a WAV file that can be read.",
  "error.rate-unsupported": "This sample rate is not supported; 8 to 192 kHz are.",
  "error.no-clips": "There is nothing to learn from yet.",
  "error.text-empty": "Write something to say first.",
  "error.text-too-long": "The text is too long to be spoken at once.",
  "error.text-unsupported": "There is nothing in this text that can be spoken.",
  "error.voice-corrupt": "This is not a voice file, or it is damaged.",
  "error.base-mismatch": "This voice was made with another base voice and cannot be opened here.",
  "error.microphone-denied": "The microphone was not allowed. Allow it beside the address bar, then try again.",
  "error.microphone-missing": "No microphone is connected.",
  "error.microphone-unavailable": "The browser offers no microphone here: the page needs HTTPS or localhost.",
  "error.microphone-failed": "The microphone could not be opened.",
  "error.other": "Something went wrong.",
};

/** @typedef {keyof typeof strings} Key */

/** @param {Key} key @param {{ [name: string]: string | number }} [values] */
export function t(key, values = {}) {
  return strings[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** An error in words, with its code for those who report it. @param {{ code?: unknown, message: string }} error */
export function inWords(error) {
  const key = /** @type {Key} */ (`error.${error.code}`);
  const words = key in strings ? t(key) : `${t("error.other")} ${error.message}`;
  return { words, code: typeof error.code === "string" ? error.code : "internal" };
}

/** @param {number} seconds */
export function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
