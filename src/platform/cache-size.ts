/**
 * Returns the size options of an LRUCache for up to `entries` entries. Its arrays grow with its content; the option
 * `max` would allocate all of them at its creation.
 */
export function upTo(entries: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
