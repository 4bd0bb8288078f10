/** The options of an LRUCache for up to `entries` entries. `max` would allocate its arrays at once. */
export function upTo(entries: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
