/// <reference lib="esnext.disposable" />
import type { Audio } from "./options.js";
/** The microphone without echo cancellation, noise suppression or gain control, at its own sample rate. `studio.microphone` is one. */
export declare class Microphone {
    #private;
    /**
     * Opens the microphone, with the visitor's permission.
     *
     * @param {(peakDb: number, levelDb: number) => void} onLevel Called some 20 times a second, with levels below full scale.
     * @param {() => void} onLost Called when the device is unplugged.
     * @param {{ signal?: AbortSignal, deviceId?: string }} [options] Aborting rejects with the reason, by default `cancelled`, and leaves the microphone closed, whatever the visitor answers.
     *   `deviceId` is that of an audio input of `navigator.mediaDevices.enumerateDevices`; where it is gone, the browser chooses.
     * @returns {Promise<void>}
     */
    open(onLevel: (peakDb: number, levelDb: number) => void, onLost: () => void, { signal, deviceId }?: {
        signal?: AbortSignal;
        deviceId?: string;
    }): Promise<void>;
    /** @returns {boolean} */
    get isOpen(): boolean;
    /** Starts a recording. */
    record(): void;
    /** Ends the recording and returns it, with all sound until this call; the microphone stays open. @returns {Promise<Audio>} */
    stop(): Promise<Audio>;
    /** Releases the microphone. */
    close(): void;
    /** Releases the microphone at the end of a block with `await using`. @returns {Promise<void>} */
    [Symbol.asyncDispose](): Promise<void>;
    /** Releases the microphone and the browser's audio thread, for good. `studio.close` calls it. */
    end(): void;
}
