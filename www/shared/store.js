// The state of a page: one value, changed only by `update`, from which everything on the page is drawn.

/** @template {object} State @param {State} initial */
export function createStore(initial) {
  const state = { ...initial };
  let draw = () => {};
  return {
    /** The current state. */
    state,
    /** @param {Partial<State>} change */
    update(change) {
      Object.assign(state, change);
      draw();
    },
    /** @param {() => void} drawing Called after each change. */
    drawWith(drawing) {
      draw = drawing;
    },
  };
}
