// Where this page stores pictures, learning and net: in a store beside that of the voices.

/** Name of the store. */
export const STORE = "ownvoice-things";
