import { expectEqual, type RowContext } from '../harness/row.js';
import type { Fetcher } from '../support/fetcher.js';

/** Pages between two whole comparisons of bodies. */
const COMPARE_EVERY = 50;

export interface Walk {
  readonly pages: number;
  /** Cursors of the pages after the first that are full, in order. */
  readonly cursors: readonly string[];
}

interface Page {
  readonly payouts: readonly { readonly id: string; readonly created_at: string }[];
  readonly next_cursor: string | null;
}

/**
 * Reads the whole list through the service, page by page, and compares it with the reference: sizes, order, no payout
 * twice, none missing, the same bodies.
 */
export async function checkWalk(
  context: RowContext,
  viaService: Fetcher,
  viaShell: Fetcher,
  pageSize: number,
): Promise<Walk> {
  const { payouts } = context.options;
  const seen = new Set<string>();
  const cursors: string[] = [];
  let outOfOrder = 0;
  let wrongSize = 0;
  let different = 0;
  let before = '9999';
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null;) {
    context.progress(`walking the list: page ${pages + 1}`);
    const query: string = `?page_size=${pageSize}${cursor === '' ? '' : `&page_cursor=${cursor}`}`;
    const body = await viaService.get(`/merchants/v1/payouts${query}`);
    const page = JSON.parse(body) as Page;
    if (pages % COMPARE_EVERY === 0 || page.next_cursor === null) {
      const shells = await Promise.all([viaShell.get(`/query${query}`), viaShell.get(`/objects${query}`)]);
      for (const shell of shells)
        if (JSON.stringify(JSON.parse(shell)) !== JSON.stringify(page)) different += 1;
    }
    for (const payout of page.payouts) {
      seen.add(payout.id);
      if (payout.created_at > before) outOfOrder += 1;
      before = payout.created_at;
    }
    const full = page.payouts.length === pageSize;
    if (page.next_cursor !== null && !full) wrongSize += 1;
    if (cursor !== '' && full) cursors.push(cursor);
    cursor = page.next_cursor;
    pages += 1;
  }
  expectEqual('list: pages', pages, Math.ceil(payouts / pageSize));
  expectEqual('list: pages of a wrong size', wrongSize, 0);
  expectEqual('list: payouts out of order', outOfOrder, 0);
  expectEqual('list: different payouts in all pages', seen.size, payouts);
  expectEqual('list: pages whose bodies differ between the variants', different, 0);
  return { pages, cursors };
}
