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
    code: "asked" | "adapter-found" | "no-webgpu" | "no-adapter" | "software-adapter" | "adapter-failed";
};
/** @param {Device["code"]} code @param {string} reason @returns {Device} */
export declare const cpu: (code: Device["code"], reason: string) => Device;
/**
 * @param {"auto" | "webgpu" | "cpu"} wanted
 * @returns {Promise<Device>}
 */
export declare function chooseDevice(wanted: "auto" | "webgpu" | "cpu"): Promise<Device>;
