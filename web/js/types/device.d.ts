/**
 * The outcome of an adapter's self-test.
 */
export type SelfTest = {
    /**
     * The largest relative difference from the CPU's results.
     */
    deviation: number;
    /**
     * The largest that is accepted.
     */
    tolerance: number;
};
/**
 * The device in use, and the reason for it.
 */
export type Device = {
    kind: "webgpu" | "cpu";
    /**
     * The browser's name for it.
     */
    name: string;
    /**
     * Why it was chosen, in a sentence.
     */
    reason: string;
    /**
     * The reason, for programs.
     */
    code: "asked" | "adapter-found" | "no-webgpu" | "no-adapter" | "software-adapter" | "adapter-failed" | "adapter-wrong";
    /**
     * The graphics adapter that was found, used or not; empty without one.
     */
    adapter: string;
    /**
     * CPU cores that train; 1 on a GPU.
     */
    cores: number;
    /**
     * Null on the CPU.
     */
    selfTest: SelfTest | null;
};
