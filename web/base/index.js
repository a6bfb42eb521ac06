// The addresses of the files of the base voice. Bundlers look for exactly these expressions, copy each file, and put its new address here. Vite would inline
// small files as data: URLs, which policies forbid, but for the query. The speaker encoder is left out: only the command line measures with it.

export default {
  manifest: new URL("./base/manifest.json?no-inline", import.meta.url).href,
  weights: new URL("./base/weights.safetensors", import.meta.url).href,
  lexicon: new URL("./lexicon/en.lex", import.meta.url).href,
  aligner: new URL("./base/aligner.safetensors", import.meta.url).href,
  vocoder: new URL("./base/vocoder.safetensors", import.meta.url).href,
  prompts: new URL("./prompts.json?no-inline", import.meta.url).href,
};
