export type Device = {
    kind: "webgpu" | "cpu";
    /**
     * What the browser calls it.
     */
    name: string;
    /**
     * Why this one, in a sentence.
     */
    reason: string;
    /**
     * The reason, for programs.
     */
    code: "asked" | "adapter-found" | "no-webgpu" | "no-adapter" | "software-adapter" | "adapter-failed" | "adapter-wrong";
    /**
     * The graphics adapter that was found, whether or not it is used; empty without one.
     */
    adapter: string;
    /**
     * Of the CPU, on which voices are learnt; one where a graphics adapter learns.
     */
    cores: number;
    /**
     * How far the adapter's results were from the CPU's before it was trusted; relative.
     */
    selfTest: {
        deviation: number;
        tolerance: number;
    } | null;
};
/** @param {Device["code"]} code @param {string} reason @param {string} [adapter] @returns {Device} */
export declare const cpu: (code: Device["code"], reason: string, adapter?: string) => Device;
/** Why a graphics adapter that was found is not used. @param {string} name @param {unknown} error @returns {Device} */
export declare function distrusted(name: string, error: unknown): Device;
/** Hears when a device of this thread is lost. The program keeps its device to itself, so it is met where it is made. @param {(message: string) => void} onLost */
export declare function hearLosses(onLost: (message: string) => void): void;
/**
 * @param {"auto" | "webgpu" | "cpu"} wanted
 * @returns {Promise<Device>}
 */
export declare function chooseDevice(wanted: "auto" | "webgpu" | "cpu"): Promise<Device>;
