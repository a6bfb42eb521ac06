/** @param {unknown} value @returns {Promise<Uint8Array<ArrayBuffer>>} */
export declare function pack(value: unknown): Promise<Uint8Array<ArrayBuffer>>;
/** @param {ArrayBuffer} file @returns {Promise<any>} undefined where it is not whole. */
export declare function unpack(file: ArrayBuffer): Promise<any>;
