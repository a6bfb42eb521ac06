// Changes of the document that both pages make. Each leaves alone what is already as it should be: a screen reader announces whatever is set in a live
// region, and a node that is replaced loses its focus.

/** @param {Element} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag @param {Partial<HTMLElementTagNameMap[Tag]>} properties @param {(Node | string)[]} children */
export function createElement(tag, properties, ...children) {
  const element = document.createElement(tag);
  Object.assign(element, properties);
  element.append(...children);
  return element;
}

/** @param {Node} node */
const keyOf = (node) => /** @type {HTMLElement} */ (node).dataset?.key;

/** Makes the children of an element equal to others. Where a child with a `data-key` is gone, those after it stay as they are. @param {Element} parent @param {Iterable<Node>} children */
export function renderChildren(parent, children) {
  const wanted = [...children];
  const keys = new Set(wanted.map(keyOf));
  for (const child of [...parent.children]) if (keyOf(child) && !keys.has(keyOf(child))) child.remove();
  let index = 0;
  for (const child of wanted) {
    const current = parent.childNodes[index++];
    if (current) renderNode(current, child);
    else parent.append(child);
  }
  while (parent.childNodes.length > index) parent.lastChild?.remove();
}

/** Nodes of another `data-key` are replaced, so that no text field takes over the text of another. @param {ChildNode} current @param {Node} wanted */
function renderNode(current, wanted) {
  if (current.isEqualNode(wanted)) return;
  const bothElements = current instanceof HTMLElement && wanted instanceof HTMLElement;
  if (!bothElements || current.nodeName !== wanted.nodeName || current.dataset.key !== wanted.dataset.key) return current.replaceWith(wanted);
  for (const name of current.getAttributeNames()) if (!wanted.hasAttribute(name)) current.removeAttribute(name);
  for (const name of wanted.getAttributeNames()) current.setAttribute(name, wanted.getAttribute(name) ?? "");
  renderChildren(current, wanted.childNodes);
}

/** An error in the visitor's language, with its code for those who report it. @typedef {{ text: string, code: string }} DescribedError */

/** The code is for those who report an error: it is shown where one points at the words. @param {DescribedError} error @returns {Node[]} */
export const errorNodes = ({ text, code }) => [createElement("span", { textContent: `${text} `, title: code }), createElement("code", { textContent: code, hidden: true })];

/** Shows an error, or hides the element where there is none. @param {HTMLElement} element @param {DescribedError | null} error */
export function showError(element, error) {
  element.hidden = !error;
  renderChildren(element, error ? errorNodes(error) : []);
}

/** The files that links download. @type {WeakMap<HTMLAnchorElement, Blob>} */
const offered = new WeakMap();

/** Lets a link download a file; without a file it leads nowhere. @param {HTMLAnchorElement} link @param {Blob | null} file @param {string} name */
export function offerDownload(link, file, name) {
  if (offered.get(link) === (file ?? undefined)) return;
  URL.revokeObjectURL(link.href);
  if (file) {
    offered.set(link, file);
    Object.assign(link, { href: URL.createObjectURL(file), download: name });
  } else {
    offered.delete(link);
    link.removeAttribute("href");
  }
}

/** The files that were chosen in a field; the same files may be chosen again. @param {HTMLInputElement} field */
export function takeFiles(field) {
  const files = [...(field.files ?? [])];
  field.value = "";
  return files;
}

/** Returns a function that draws at once, and then in each frame as long as something moves. @param {() => void} draw @param {() => boolean} moves */
export function drawnWhile(draw, moves) {
  let isScheduled = false;
  return function redraw() {
    draw();
    if (isScheduled || !moves()) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      redraw();
    });
  };
}
