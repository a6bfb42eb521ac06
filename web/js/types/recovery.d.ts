/**
 * A worker crashed or its GPU was lost: a new worker is being started, is ready, or could not be started. Calls that were under way continue in the new worker.
 */
export type Recovery = {
    /**
     * After `failed`, every call rejects with the code.
     */
    status: "restarting" | "restarted" | "failed";
    /**
     * `worker-crashed` or `device-lost`; after `failed`, any code of `load` too.
     */
    code: string;
    message: string;
    /**
     * Whether the GPU was lost for the second time, so that the CPU is used from now on.
     */
    toCpu: boolean;
};
