// Levels of sounds over time, and their correlation, which is high for the same words at the same times, whatever the voice.

/** Returns the level of each 20 ms, in dB. @param {{ rate: number, samples: Int16Array }} sound */
export function levels({ rate, samples }) {
  const length = rate / 50;
  return Array.from({ length: Math.floor(samples.length / length) }, (_, at) => {
    const power = samples.subarray(at * length, (at + 1) * length).reduce((sum, sample) => sum + sample ** 2, 0) / length;
    return 10 * Math.log10(power + 1);
  });
}

/** Pearson's correlation coefficient. @param {number[]} one @param {number[]} other */
export function correlation(one, other) {
  const mean = (/** @type {number[]} */ values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [a, b] = [one, other].map((values) => {
    const middle = mean(values);
    return values.map((value) => value - middle);
  });
  const product = (/** @type {number[]} */ x, /** @type {number[]} */ y) => x.reduce((sum, value, at) => sum + value * y[at], 0);
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
}
