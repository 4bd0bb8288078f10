/** Runs `work` for each item, at most `limit` at a time. Returns the results in the order of the items. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const run = async (): Promise<void> => {
    while (next < items.length) {
      const place = next;
      next += 1;
      results[place] = await work(items[place]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, run));
  return results;
}
