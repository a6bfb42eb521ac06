// One thing plays at a time.

/** @type {AudioContext | undefined} */
let context;
/** @type {{ source: AudioBufferSourceNode, key: string, started: number, seconds: number, onEnd: () => void } | null} */
let playing = null;

/**
 * @param {string} key Names what plays, for `position`.
 * @param {{ samples: Float32Array, sampleRate: number }} audio
 * @param {() => void} onEnd Called however it ends.
 */
export function play(key, { samples, sampleRate }, onEnd) {
  stop();
  context ??= new AudioContext();
  context.resume();
  const buffer = context.createBuffer(1, samples.length, sampleRate);
  buffer.copyToChannel(/** @type {Float32Array<ArrayBuffer>} */ (samples), 0);
  const source = new AudioBufferSourceNode(context, { buffer });
  source.connect(context.destination);
  source.onended = () => playing?.source === source && stop();
  source.start();
  playing = { source, key, started: context.currentTime, seconds: buffer.duration, onEnd };
}

export function stop() {
  if (!playing) return;
  const { source, onEnd } = playing;
  playing = null;
  source.stop();
  onEnd();
}

export const isSilent = () => playing === null;

/** How far `key` has played, 0 to 1; null when it does not play. @param {string} key */
export function position(key) {
  if (playing?.key !== key || !context) return null;
  return Math.min(1, (context.currentTime - playing.started) / playing.seconds);
}
