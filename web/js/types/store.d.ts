export type Folder = "recordings" | "run";
export type Read = (folder: Folder, key: string) => Promise<any>;
export type SyncAccessHandle = {
    write: (bytes: Uint8Array, options: {
        at: number;
    }) => number;
    flush: () => void;
    close: () => void;
};
export declare class Store {
    #private;
    /** @param {string} name */
    constructor(name: string);
    get name(): string;
    /** Fails with `storage-unavailable` where the browser keeps nothing for this page. @param {string} name @returns {Promise<Store>} */
    static open(name: string): Promise<Store>;
    /** Removes all of a store, from any thread: neither a worker nor an open store is needed. Whoever writes to it is told first. @param {string} name */
    static clear(name: string): Promise<void>;
    /** Bytes of all that a store holds, from any thread. @param {string} name @returns {Promise<number>} */
    static bytes(name: string): Promise<number>;
    /** Tells when the store is cleared, by whichever tab. @param {() => void} listener */
    onCleared(listener: () => void): void;
    /**
     * Resolves once the value is on disk: to false where `wanted`, which sees the store as it is then, says no.
     * @param {Folder} folder @param {string} key @param {unknown} value @param {(read: Read) => Promise<boolean>} [wanted] @returns {Promise<boolean>}
     */
    put(folder: Folder, key: string, value: unknown, wanted?: (read: Read) => Promise<boolean>): Promise<boolean>;
    /** @param {Folder} folder @param {string} key @returns {Promise<any>} undefined where there is none. */
    get(folder: Folder, key: string): Promise<any>;
    /** @param {Folder} folder @returns {Promise<string[]>} In order. */
    keys(folder: Folder): Promise<string[]>;
    /** @param {Folder} folder @returns {Promise<any[]>} In the order of their keys. */
    all(folder: Folder): Promise<any[]>;
    /** @param {Folder} folder @param {string} key @returns {Promise<void>} */
    remove(folder: Folder, key: string): Promise<void>;
}
