// Runs on the audio thread: collects samples in chunks of about 40 ms and transfers them to the page.

const CHUNK_SAMPLES = 2048;

class Capture extends AudioWorkletProcessor {
  #chunk = new Float32Array(CHUNK_SAMPLES);
  #filled = 0;

  /** @param {Float32Array[][]} inputs */
  process([channels]) {
    // Without a channel the microphone has not started, or is unplugged.
    for (const sample of channels[0] ?? []) {
      this.#chunk[this.#filled++] = sample;
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
