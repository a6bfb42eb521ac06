/** An error with a stable `code` for programs and a message for people. */
export declare class OwnvoiceError extends Error {
    /** For example `clip-too-quiet`; README.md lists the codes. */
    code: string;
    /** Index of the clip at fault among those given. */
    clip: number | undefined;
    /** The value that was measured, where a limit decides; the code implies its unit: dB, seconds, percent or phones. */
    found: number | undefined;
    /** @param {string} code @param {string} message @param {{ clip?: number, found?: number }} [details] */
    constructor(code: string, message: string, { clip, found }?: {
        clip?: number;
        found?: number;
    });
}
