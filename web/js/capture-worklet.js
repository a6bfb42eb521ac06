// Runs on the audio thread: collects samples in chunks of about 40 ms and transfers them to the page.

/** A whole number of the blocks of 128 samples in which the browser delivers sound. */
const CHUNK_SAMPLES = 128 * Math.round((0.04 * sampleRate) / 128);

class Capture extends AudioWorkletProcessor {
  #chunk = new Float32Array(CHUNK_SAMPLES);
  #filled = 0;
  /** The channels that have had sound: a microphone may be on one of two inputs, beside silence. @type {Set<number>} */
  #live = new Set();

  /** @param {Float32Array[][]} inputs */
  process([channels]) {
    channels.forEach((channel, index) => channel.some(Boolean) && this.#live.add(index));
    const live = channels.filter((_, index) => this.#live.has(index));
    // Without a channel the microphone has not started, or has dropped sound, whose time is kept.
    const length = channels[0]?.length ?? (this.#live.size && 128);
    for (let i = 0; i < length; i++) {
      this.#chunk[this.#filled++] = live.reduce((sum, channel) => sum + channel[i], 0) / (live.length || 1);
      if (this.#filled === CHUNK_SAMPLES) {
        this.port.postMessage(this.#chunk, [this.#chunk.buffer]);
        this.#chunk = new Float32Array(CHUNK_SAMPLES);
        this.#filled = 0;
      }
    }
    return true;
  }
}

registerProcessor("ownvoice-capture", Capture);
