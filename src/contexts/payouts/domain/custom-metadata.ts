/** Deepest nesting of `custom_metadata` that is accepted; the object itself is level 1. */
export const METADATA_MAX_DEPTH = 32;
/** Longest `custom_metadata` that is accepted, in bytes of its JSON text. */
export const METADATA_MAX_BYTES = 16_384;
