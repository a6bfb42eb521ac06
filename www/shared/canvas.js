// Canvases that are as sharp as the screen.

/** Clears a canvas. @param {HTMLCanvasElement} canvas @returns {{ context: CanvasRenderingContext2D, width: number, height: number, colour: (name: string) => string } | null} */
export function prepare(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const context = canvas.getContext("2d");
  if (!context || width === 0) return null; // not on screen
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const style = getComputedStyle(canvas);
  return { context, width, height, colour: (name) => style.getPropertyValue(name).trim() };
}
