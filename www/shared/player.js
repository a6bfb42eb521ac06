// Plays one sound at a time, whole or in pieces without gaps, each as soon as it is made; a sound can be paused and goes on where it was.

/** @import { Sound, Track } from "./track.js" */
/** When a piece begins to sound, and where in the whole it begins, in seconds. @typedef {{ source: AudioBufferSourceNode, at: number, begin: number, seconds: number }} Piece */
/** The sound that plays; `track` where it is one, `seconds` its duration so far, `next` the time at which the next piece begins.
 * @typedef {{ key: string, track?: Track, pieces: Piece[], seconds: number, next: number, isOpen: boolean }} Playing */
/** A sound that waits where it was paused, in seconds. @typedef {{ key: string, sound: Sound | Track | null | undefined, at: number }} Paused */

/** Delay before a sound, because one that is scheduled in the past loses its first samples. */
const LEAD_SECONDS = 0.01;

/** How far ahead a track is given to the browser. */
const AHEAD_SECONDS = 10;

/** An audio context holds the audio device: it is closed after this time without sound. */
const IDLE_MS = 20_000;

/** @type {AudioContext | undefined} */
let context;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let idleTimer;
/** @type {Playing | null} */
let playing = null;
/** @type {Paused | null} */
let paused = null;
let isMuted = false;
let onChange = () => {};

/** @param {() => void} listener Called when a sound begins or ends. */
export const onPlaybackChange = (listener) => void (onChange = listener);

/**
 * Begins to play a sound that is still being made. Call it in a click handler: browsers require a user gesture.
 * @param {string} key Names the sound, for `playedSeconds`. @param {number} [from] Where it begins, in seconds.
 */
export function startPlaying(key, from = 0) {
  stopPlaying();
  paused = null;
  clearTimeout(idleTimer);
  context ??= new AudioContext();
  context.resume();
  const output = context;
  /** @type {Playing} */
  const started = { key, pieces: [], seconds: from, next: 0, isOpen: true };
  if (!isMuted) playing = started;
  onChange();
  return {
    /**
     * @param {Sound} sound @param {number} [pause] Silence after it, in seconds. @param {number} [skip] Seconds at its beginning that are left out.
     * @returns {number} Milliseconds from now until it sounds.
     */
    push({ samples, sampleRate }, pause = 0, skip = 0) {
      if (playing !== started) return 0; // stopped meanwhile
      const buffer = output.createBuffer(1, samples.length, sampleRate);
      buffer.copyToChannel(/** @type {Float32Array<ArrayBuffer>} */ (samples), 0);
      const source = new AudioBufferSourceNode(output, { buffer });
      source.connect(output.destination);
      const at = Math.max(output.currentTime + LEAD_SECONDS, started.next);
      source.start(at, skip);
      const piece = { source, at, begin: started.seconds, seconds: buffer.duration - skip };
      source.onended = () => playing === started && !started.isOpen && started.pieces.at(-1) === piece && stopPlaying();
      started.pieces = [...started.pieces.filter(({ at, seconds }) => at + seconds + 1 > output.currentTime), piece];
      started.seconds += piece.seconds + pause;
      started.next = at + piece.seconds + pause;
      return (at - output.currentTime) * 1000;
    },
    /** Marks the end of the sound. */
    end() {
      started.isOpen = false;
      const last = started.pieces.at(-1);
      if (playing === started && (!last || output.currentTime >= last.at + last.seconds)) stopPlaying();
    },
  };
}

/**
 * Plays a track, also one that still grows, as far as it has been made.
 * @param {string} key @param {Track} track @param {number} [from] Where it begins, in seconds. @param {(ms: number) => void} [onFirst] Called with the time from now to its first sound.
 */
export async function playTrack(key, track, from = 0, onFirst = () => {}) {
  const player = startPlaying(key, from);
  const started = playing;
  if (!started || !context) return;
  const output = context;
  started.track = track;
  let at = from;
  for (;;) {
    const sound = await track.read(at);
    if (playing !== started) return; // stopped meanwhile
    if (!sound) return player.end();
    onFirst(player.push(sound));
    onFirst = () => {};
    at += sound.samples.length / sound.sampleRate;
    while (playing === started && started.next - output.currentTime > AHEAD_SECONDS) await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** @param {string} key @param {Sound | Track | null | undefined} sound @param {number} [from] Where it begins, in seconds. */
export function play(key, sound, from = 0) {
  if (sound && "read" in sound) return void playTrack(key, sound, from);
  if (!sound?.samples.length) return;
  const player = startPlaying(key, from);
  player.push(sound, 0, from);
  player.end();
}

/** Pauses a sound, or plays it from where it was paused. @param {string} key @param {Sound | Track | null | undefined} sound */
export function togglePlaying(key, sound) {
  if (!isPlaying(key)) return play(key, sound, paused?.key === key && paused.sound === sound ? paused.at : 0);
  const at = playedSeconds(key) ?? 0;
  stopPlaying();
  paused = { key, sound, at };
  onChange();
}

export function stopPlaying() {
  paused = null;
  if (!playing) return;
  const { pieces } = playing;
  playing = null;
  for (const { source } of pieces) source.stop();
  idleTimer = setTimeout(() => {
    context?.close();
    context = undefined;
  }, IDLE_MS);
  onChange();
}

/** Ends what plays, and plays nothing, as long as a microphone must not hear the page. @param {boolean} muted */
export function mute(muted) {
  isMuted = muted;
  if (muted) stopPlaying();
}

export const isSilent = () => playing === null;

/** Resolves when a sound no longer plays, with whether it was played to its end. @param {string} key @returns {Promise<boolean>} */
export async function untilPlayed(key) {
  const sound = playing;
  if (sound?.key !== key) return false;
  while (playing === sound) await new Promise((resolve) => setTimeout(resolve, 50));
  const last = sound.pieces.at(-1);
  return Boolean(!sound.isOpen && last && context && context.currentTime >= last.at + last.seconds);
}

/** @param {string} key */
export const isPlaying = (key) => playing?.key === key;

/** The seconds of a sound that have been played; null where it neither plays nor is paused. @param {string} key */
export function playedSeconds(key) {
  if (paused?.key === key) return paused.at;
  if (playing?.key !== key || !context) return null;
  const now = context.currentTime;
  const piece = playing.pieces.findLast(({ at }) => at <= now);
  return piece ? Math.min((playing.track ?? playing).seconds, piece.begin + Math.min(now - piece.at, piece.seconds)) : (playing.pieces[0]?.begin ?? playing.seconds);
}
