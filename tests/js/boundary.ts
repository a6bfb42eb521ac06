// The types that the package ships against those that wasm-bindgen declares from the structs of web/src/objects.rs. The type checker compares them; where a
// field is missing, added or of another type, its line below is an error.

import type * as shipped from "../../web/js/types/index.js";
import type { PlainSpeech } from "../../web/js/types/speech.js";
import type { TimedWord } from "../../web/js/types/words.js";
import type * as wasm from "../../web/pkg/ownvoice_web.js";

/** A type without names and without the kind of buffer below a typed array. */
type Plain<T> = T extends Float32Array ? "Float32Array"
  : T extends Uint32Array ? "Uint32Array"
  : T extends (infer E)[] ? Plain<E>[]
  : T extends object ? { [K in keyof T]: Plain<T[K]> }
  : T;
type Same<A, B> = [Plain<A>, Plain<B>] extends [Plain<B>, Plain<A>] ? true : false;
type Check<T extends true> = T;

export type Checks = [
  Check<Same<wasm.Audio, shipped.Audio>>,
  Check<Same<wasm.Clip, shipped.Clip>>,
  Check<Same<wasm.ClipNote, shipped.ClipNote>>,
  Check<Same<wasm.ClipReport, shipped.ClipReport>>,
  Check<Same<wasm.Delivery, shipped.Delivery>>,
  Check<Same<wasm.DeviceMemory, shipped.DeviceMemory>>,
  Check<Same<wasm.Mel, shipped.Mel>>,
  Check<Same<wasm.AlignmentSnapshot, shipped.Picture>>,
  Check<Same<wasm.PrecisionMetrics, shipped.PrecisionMetrics>>,
  Check<Same<wasm.PrecisionReport, shipped.PrecisionReport>>,
  Check<Same<wasm.PrecisionRow, shipped.PrecisionRow>>,
  Check<Same<wasm.Profile, shipped.Profile>>,
  Check<Same<wasm.ProfileRow, shipped.ProfileRow>>,
  Check<Same<wasm.SelfTest, shipped.SelfTest>>,
  Check<Same<wasm.Similarity, shipped.Similarity>>,
  Check<Same<wasm.Speech, PlainSpeech>>,
  Check<Same<wasm.SpokenWord, TimedWord>>,
  Check<Same<wasm.TextWarning, shipped.TextWarning>>,
  // What JavaScript adds to them.
  Check<Same<wasm.Step & { status: "training" }, shipped.TrainingStep>>,
  Check<Same<Omit<wasm.TrainingOptions, "faults">, Omit<shipped.TrainingOptions, "consent">>>,
  Check<Same<wasm.VoiceInfo & { id: string }, shipped.VoiceInfo>>,
];
