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
/** The CPU in place of an adapter that failed. @param {string} name @param {unknown} error @returns {Device} */
export declare function rejected(name: string, error: unknown): Device;
/** Reports when a device of this thread is lost. The device is internal to the module, so that it is intercepted where it is requested. @param {(message: string) => void} onLost */
export declare function onDeviceLost(onLost: (message: string) => void): void;
/**
 * @param {"auto" | "webgpu" | "cpu"} wanted
 * @returns {Promise<Device>}
 */
export declare function chooseDevice(wanted: "auto" | "webgpu" | "cpu"): Promise<Device>;
