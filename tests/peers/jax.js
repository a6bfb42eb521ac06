// One fine-tuning iteration in jax-js. Runs in the page that bench.mjs opens. jax-js has no loop that it differentiates: the recurrence is unrolled.

/** @param {any} jax the module @param {any} model the sizes in the base's manifest @param {number} batch @param {number} window @returns {() => Promise<number>} An iteration, which returns its loss. */
export function iteration(jax, model, batch, window) {
  const { numpy: np, nn, random } = jax;
  const { mels, reduction, decoder_width: hidden, postnet_width, postnet_layers, postnet_kernel: taps } = model;
  const steps = window / reduction;
  const width = reduction * (model.encoder_width + 4) + model.speaker_width;
  let seed = 0;
  const matrix = (rows, columns) => random.uniform(random.key(++seed), [rows, columns], { minval: -0.05, maxval: 0.05 });
  const normal = (shape) => random.normal(random.key(++seed), shape);
  const lstm = (inputs) => ({ input: matrix(inputs, 4 * hidden), recurrent: matrix(hidden, 4 * hidden), bias: np.zeros([4 * hidden]) });
  const widths = [mels, ...Array(postnet_layers - 1).fill(postnet_width), mels];
  let parameters = {
    first: lstm(width),
    second: lstm(hidden),
    projection: matrix(hidden + width, reduction * mels),
    offset: np.zeros([reduction * mels]),
    layers: widths.slice(1).map((out, i) => ({ weight: matrix(taps * widths[i], out), gamma: np.ones([out]), beta: np.zeros([out]) })),
  };
  const moments = () => jax.tree.map((leaf) => np.zeros(leaf.shape), parameters);
  let [first, second] = [moments(), moments()];
  const context = normal([steps, batch, width]);
  const targets = normal([batch, window, mels]);

  const run = ({ input, recurrent, bias }, inputs) => {
    const columns = inputs.shape[2];
    const projected = np.add(np.matmul(np.reshape(inputs, [steps * batch, columns]), input), bias).reshape([steps, batch, 4 * hidden]);
    let h = np.zeros([batch, hidden]);
    let c = np.zeros([batch, hidden]);
    const states = Array.from({ length: steps }, (_, step) => {
      const gates = np.add(projected.ref.slice(step), np.matmul(h, recurrent.ref));
      const [i, f, g, o] = [0, 1, 2, 3].map((gate) => gates.ref.slice([], [gate * hidden, (gate + 1) * hidden]));
      gates.dispose();
      c = np.add(np.multiply(nn.sigmoid(f), c), np.multiply(nn.sigmoid(i), np.tanh(g)));
      h = np.multiply(nn.sigmoid(o), np.tanh(c.ref));
      return h.ref;
    });
    [h, c, projected, recurrent].forEach((array) => array.dispose());
    return np.stack(states);
  };
  const convolve = (frames, { weight, gamma, beta }, last) => {
    const channels = frames.shape[2];
    const padded = np.pad(frames, [[0, 0], [taps >> 1, taps >> 1], [0, 0]]);
    const unfolded = np.concatenate(Array.from({ length: taps }, (_, tap) => padded.ref.slice([], [tap, tap + window])), 2);
    padded.dispose();
    const out = np.add(np.multiply(np.matmul(unfolded.reshape([batch * window, taps * channels]), weight), gamma), beta);
    return (last ? out : np.tanh(out)).reshape([batch, window, -1]);
  };
  const loss = (parameters) => {
    const states = run(parameters.second, run(parameters.first, context.ref));
    const joined = np.concatenate([states, context.ref], 2).reshape([steps * batch, hidden + width]);
    const made = np.add(np.matmul(joined, parameters.projection), parameters.offset).reshape([steps, batch, reduction * mels]);
    const frames = np.transpose(made, [1, 0, 2]).reshape([batch, window, mels]);
    const residual = parameters.layers.reduce((made, layer, i) => convolve(made, layer, i + 1 === parameters.layers.length), frames.ref);
    const error = (made) => {
      const difference = np.subtract(made, targets.ref);
      return np.add(np.mean(np.absolute(difference.ref)), np.mean(np.square(difference)));
    };
    return np.add(error(frames.ref), error(np.add(frames, residual)));
  };
  const update = jax.jit((parameters, first, second) => {
    const [value, gradients] = jax.valueAndGrad(loss)(jax.tree.ref(parameters));
    const leaves = jax.tree.leaves(gradients);
    const norm = np.sqrt(leaves.map((leaf) => np.sum(np.square(leaf.ref))).reduce((a, b) => np.add(a, b)));
    const scale = np.minimum(np.divide(1, np.add(norm, 1e-6)), 1);
    const scaled = jax.tree.map((leaf) => np.multiply(leaf, scale.ref), gradients);
    scale.dispose();
    const mean = jax.tree.map((m, g) => np.add(np.multiply(m, 0.9), np.multiply(g.ref, 0.1)), first, scaled);
    const square = jax.tree.map((v, g) => np.add(np.multiply(v, 0.999), np.multiply(np.square(g), 0.001)), second, scaled);
    const moved = jax.tree.map(
      (p, m, v) => np.subtract(p, np.divide(np.multiply(m.ref, 5e-4), np.add(np.sqrt(v.ref), 1e-6))), parameters, mean, square);
    return [value, moved, mean, square];
  });
  return async () => {
    const [value, ...next] = update(parameters, first, second);
    [parameters, first, second] = next;
    await jax.blockUntilReady(parameters);
    return (await value.data())[0];
  };
}
