/**
 * The size of an LRUCache that holds up to `entries` and takes memory for those that it has. `max` reserves memory for all
 * of them at its creation, some 40 bytes each.
 */
export function upTo(entries: number): { readonly maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
