/**
 * Size options of an LRUCache of at most so many entries, whose arrays grow with its content. With `max` they are allocated
 * for all entries at its creation.
 */
export function upTo(entries: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
