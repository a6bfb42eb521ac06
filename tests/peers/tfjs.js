// One fine-tuning iteration in TensorFlow.js. Runs in the page that bench.mjs opens, with `tf` there.
//
// The same algebra as ownvoice's: input projections and convolutions are one matrix product each, only `h W` is sequential.

/* global tf */

/** @param {any} model the sizes in the base's manifest @param {number} batch @param {number} window @returns {() => Promise<number>} An iteration, which returns its loss. */
export function iteration(model, batch, window) {
  const { mels, reduction, decoder_width: hidden, postnet_width, postnet_layers, postnet_kernel: taps } = model;
  const steps = window / reduction;
  const width = reduction * (model.encoder_width + 4) + model.speaker_width;
  const matrix = (rows, columns) => tf.variable(tf.randomUniform([rows, columns], -0.05, 0.05));
  const vector = (size, value = 0) => tf.variable(tf.fill([size], value));
  const lstm = (inputs) => ({ input: matrix(inputs, 4 * hidden), recurrent: matrix(hidden, 4 * hidden), bias: vector(4 * hidden) });
  const [first, second] = [lstm(width), lstm(hidden)];
  const projection = matrix(hidden + width, reduction * mels);
  const offset = vector(reduction * mels);
  const widths = [mels, ...Array(postnet_layers - 1).fill(postnet_width), mels];
  const layers = widths.slice(1).map((out, i) => ({ weight: matrix(taps * widths[i], out), gamma: vector(out, 1), beta: vector(out) }));
  const context = tf.randomNormal([steps, batch, width]);
  const targets = tf.randomNormal([batch, window, mels]);
  const adam = tf.train.adam(5e-4);

  const run = ({ input, recurrent, bias }, inputs) => {
    const [rows, columns] = [steps * batch, inputs.shape[2]];
    const projected = tf.unstack(tf.add(tf.matMul(tf.reshape(inputs, [rows, columns]), input), bias).reshape([steps, batch, 4 * hidden]));
    let h = tf.zeros([batch, hidden]);
    let c = tf.zeros([batch, hidden]);
    const states = projected.map((gates) => {
      const [i, f, g, o] = tf.split(tf.add(gates, tf.matMul(h, recurrent)), 4, 1);
      c = tf.add(tf.mul(tf.sigmoid(f), c), tf.mul(tf.sigmoid(i), tf.tanh(g)));
      h = tf.mul(tf.sigmoid(o), tf.tanh(c));
      return h;
    });
    return tf.stack(states); // (steps, batch, hidden)
  };
  const convolve = (frames, { weight, gamma, beta }, last) => {
    const channels = frames.shape[2];
    const padded = tf.pad(frames, [[0, 0], [taps >> 1, taps >> 1], [0, 0]]);
    const unfolded = tf.concat(Array.from({ length: taps }, (_, tap) => tf.slice(padded, [0, tap, 0], [batch, window, channels])), 2);
    const out = tf.add(tf.mul(tf.matMul(unfolded.reshape([batch * window, taps * channels]), weight), gamma), beta);
    return (last ? out : tf.tanh(out)).reshape([batch, window, -1]);
  };
  const loss = () => {
    const states = run(second, run(first, context));
    const joined = tf.concat([states, context], 2).reshape([steps * batch, hidden + width]);
    const frames = tf.transpose(tf.add(tf.matMul(joined, projection), offset).reshape([steps, batch, reduction * mels]), [1, 0, 2]).reshape([batch, window, mels]);
    const residual = layers.reduce((made, layer, i) => convolve(made, layer, i + 1 === layers.length), frames);
    const errors = [frames, tf.add(frames, residual)].map((made) => tf.sub(made, targets));
    return tf.addN(errors.map((error) => tf.add(tf.mean(tf.abs(error)), tf.mean(tf.square(error)))));
  };
  return async () => {
    const value = tf.tidy(() => {
      const { value, grads } = tf.variableGrads(loss);
      const norm = tf.sqrt(tf.addN(Object.values(grads).map((grad) => tf.sum(tf.square(grad)))));
      const scale = tf.minimum(tf.div(1, tf.add(norm, 1e-6)), 1);
      adam.applyGradients(Object.fromEntries(Object.entries(grads).map(([name, grad]) => [name, tf.mul(grad, scale)])));
      return value;
    });
    const [read] = await value.data();
    value.dispose();
    return read;
  };
}
