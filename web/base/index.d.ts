/** Addresses of the files of the base voice: the option `base` of ownvoice's `load`. */
declare const base: {
  manifest: string;
  weights: string;
  lexicon: string;
  aligner: string;
  vocoder: string;
  /** Sentences to be read aloud: the option `prompts` of `load`. */
  prompts: string;
};
export default base;
