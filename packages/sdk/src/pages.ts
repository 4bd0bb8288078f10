import type { Result } from './types.js';

/** All items of a list, page after page: `for await (const payout of disburse.payouts.list())`. */
export class Pages<Page extends { next_cursor?: string | null }, Item> implements AsyncIterable<Item> {
  constructor(
    private readonly fetchPage: (cursor: string | undefined) => Promise<Result<Page>>,
    private readonly itemsOf: (page: Page) => readonly Item[],
    private readonly first?: string,
  ) {}

  /** Yields the pages. A short or empty page is not always the last one (docs/contract.md 6.1). */
  async *pages(): AsyncGenerator<Result<Page>> {
    let cursor: string | null | undefined = this.first;
    do {
      const page: Result<Page> = await this.fetchPage(cursor ?? undefined);
      yield page;
      cursor = page.data.next_cursor;
    } while (cursor);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for await (const { data } of this.pages()) yield* this.itemsOf(data);
  }

  /** Returns all items in one array. */
  async all(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this) items.push(item);
    return items;
  }
}
