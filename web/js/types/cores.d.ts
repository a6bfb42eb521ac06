export type Machine = {
    hardwareConcurrency?: number;
    deviceMemory?: number;
    userAgent?: string;
    maxTouchPoints?: number;
};
/** @typedef {{ hardwareConcurrency?: number, deviceMemory?: number, userAgent?: string, maxTouchPoints?: number }} Machine What a navigator says of it. */
/** The worker's own among them. @param {number | undefined} wanted @param {Machine} machine */
export declare function coresFor(wanted: number | undefined, { hardwareConcurrency, deviceMemory, userAgent, maxTouchPoints }: Machine): number;
