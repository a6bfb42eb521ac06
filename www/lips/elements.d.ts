// The elements of lips.html by id. Made by tests/js/elements.test.mjs.

export interface Elements {
  "download": HTMLElementTagNameMap["a"];
  "file": HTMLElementTagNameMap["input"];
  "film-bar": HTMLElementTagNameMap["progress"];
  "film-cancel": HTMLElementTagNameMap["button"];
  "film-choose": HTMLElementTagNameMap["label"];
  "film-error": HTMLElementTagNameMap["p"];
  "film-faces": HTMLElementTagNameMap["p"];
  "film-how": HTMLElementTagNameMap["p"];
  "film-record": HTMLElementTagNameMap["button"];
  "film-title": HTMLElementTagNameMap["h2"];
  "film-words": HTMLElementTagNameMap["p"];
  "languages": HTMLElementTagNameMap["div"];
  "left-out": HTMLElementTagNameMap["ul"];
  "loading": HTMLElementTagNameMap["section"];
  "loading-bar": HTMLElementTagNameMap["progress"];
  "loading-error": HTMLElementTagNameMap["p"];
  "loading-failed": HTMLElementTagNameMap["div"];
  "loading-words": HTMLElementTagNameMap["p"];
  "play": HTMLElementTagNameMap["button"];
  "record-words": HTMLElementTagNameMap["span"];
  "reload": HTMLElementTagNameMap["button"];
  "speak": HTMLElementTagNameMap["button"];
  "speak-error": HTMLElementTagNameMap["p"];
  "speak-title": HTMLElementTagNameMap["h2"];
  "speak-words": HTMLElementTagNameMap["p"];
  "speaker": HTMLElementTagNameMap["select"];
  "speech": HTMLElementTagNameMap["div"];
  "steps": HTMLElementTagNameMap["div"];
  "view": HTMLElementTagNameMap["canvas"];
  "wave": HTMLElementTagNameMap["div"];
}
