// Keeps the focus where the visitor is working. A control that is disabled, hidden or removed loses it to the document, and a keyboard starts from the top again.

/** Where the focus goes when the control can no longer have it, by selectors. @type {[string, string][]} */
const HEIRS = [
  ["#next, #back, #discard, #play, #close-microphone", "#record-button"],
  ["#learn, #train-start, #train-resume", "#train-pause"],
  ["#train-pause, #train-stop, #train-cancel", "#train-start:enabled, #mine .say"],
  ["[data-remove]", "[data-remove], #file-input"],
  ["#base .play", "#base .say"],
  ["#mine .play", "#mine .say"],
];

/** The controls that are waited for while a place around them has the focus. @type {{ place: HTMLElement, controls: () => (HTMLElement | null | undefined)[] } | null} */
let waiting = null;

/** @param {HTMLElement | null | undefined} element */
const canFocus = (element) => Boolean(element?.isConnected && element.checkVisibility() && !element.matches(":disabled"));

/** Draws, and then gives the focus to a control that takes over, or to the place around it until there is one. @param {() => void} draw */
export function drawKeepingFocus(draw) {
  const focused = /** @type {HTMLElement} */ (document.activeElement ?? document.body);
  const place = /** @type {HTMLElement | null} */ (focused.parentElement?.closest("[tabindex='-1']") ?? null);
  const neighbour = focused.closest("li")?.nextElementSibling;
  draw();
  if (waiting && waiting.place !== focused) waiting = null; // the visitor has moved on
  if (!waiting && place && !canFocus(focused)) {
    const heir = HEIRS.find(([selector]) => focused.matches(selector))?.[1];
    const find = (/** @type {ParentNode | null | undefined} */ within) => (heir ? /** @type {HTMLElement | null | undefined} */ (within?.querySelector(heir)) : null);
    waiting = { place, controls: () => [focused, find(neighbour), find(document)] };
  }
  if (!waiting) return;
  const control = waiting.controls().find(canFocus);
  (control ?? waiting.place).focus({ preventScroll: true });
  if (control) waiting = null;
}
