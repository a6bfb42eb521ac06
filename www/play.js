// Plays one sound at a time, whole or in pieces without gaps, each as soon as it is made.

/** @typedef {{ samples: Float32Array, sampleRate: number }} Sound */
/** @typedef {{ source: AudioBufferSourceNode, at: number, begin: number, seconds: number }} Piece When it sounds, and where in the whole it begins. */
/** @typedef {{ key: string, pieces: Piece[], seconds: number, next: number, open: boolean, onEnd: () => void }} Playing `seconds` is the duration so far. */

/** Delay before a sound, because one that is scheduled in the past loses its first samples. */
const LEAD_SECONDS = 0.01;

/** An audio context holds the audio device: it is closed after this time without sound. */
const IDLE_MS = 20_000;

/** @type {AudioContext | undefined} */
let context;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let idle;
/** @type {Playing | null} */
let playing = null;

/**
 * Begins to play a sound that is still being made. Call it in a click handler: browsers require a user gesture.
 * @param {string} key Names what plays, for `position`.
 * @param {() => void} onEnd Called however it ends.
 */
export function begin(key, onEnd) {
  stop();
  clearTimeout(idle);
  context ??= new AudioContext();
  context.resume();
  const output = context;
  /** @type {Playing} */
  const mine = { key, pieces: [], seconds: 0, next: 0, open: true, onEnd };
  playing = mine;
  return {
    /**
     * @param {Sound} sound @param {number} [pause] Silence after it, in seconds. @param {number} [from] Seconds of it that are left out.
     * @returns {number} Milliseconds from now until it sounds.
     */
    push({ samples, sampleRate }, pause = 0, from = 0) {
      if (playing !== mine) return 0; // stopped meanwhile
      const buffer = output.createBuffer(1, samples.length, sampleRate);
      buffer.copyToChannel(/** @type {Float32Array<ArrayBuffer>} */ (samples), 0);
      const source = new AudioBufferSourceNode(output, { buffer });
      source.connect(output.destination);
      const at = Math.max(output.currentTime + LEAD_SECONDS, mine.next);
      source.start(at, from);
      const piece = { source, at, begin: mine.seconds + from, seconds: buffer.duration - from };
      source.onended = () => playing === mine && !mine.open && mine.pieces.at(-1) === piece && stop();
      mine.pieces.push(piece);
      mine.seconds += buffer.duration + pause;
      mine.next = at + piece.seconds + pause;
      return (at - output.currentTime) * 1000;
    },
    /** Marks the end of the sound. */
    end() {
      mine.open = false;
      const last = mine.pieces.at(-1);
      if (playing === mine && (!last || output.currentTime >= last.at + last.seconds)) stop();
    },
  };
}

/** @param {string} key @param {Sound} sound @param {() => void} onEnd @param {number} [part] Where it begins, 0 to 1. */
export function play(key, sound, onEnd, part = 0) {
  const player = begin(key, onEnd);
  player.push(sound, 0, (part * sound.samples.length) / sound.sampleRate);
  player.end();
}

export function stop() {
  if (!playing) return;
  const { pieces, onEnd } = playing;
  playing = null;
  for (const { source } of pieces) source.stop();
  idle = setTimeout(() => {
    context?.close();
    context = undefined;
  }, IDLE_MS);
  onEnd();
}

export const isSilent = () => playing === null;

/** Position of `key`, 0 to 1 of the duration so far; null when it does not play. @param {string} key */
export function position(key) {
  if (playing?.key !== key || !context) return null;
  const now = context.currentTime;
  const piece = playing.pieces.findLast(({ at }) => at <= now);
  return piece ? Math.min(1, (piece.begin + Math.min(now - piece.at, piece.seconds)) / playing.seconds) : 0;
}
