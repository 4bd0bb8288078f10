import type { RowContext } from '../harness/row.js';
import type { Ledger } from '../seed/ledger.js';
import { LEDGER } from '../seed/ledger.js';
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
 * Reads the whole list through the service, page by page, and compares it with the table and with the reference:
 * sizes, order, no payout twice, none missing, the same bodies.
 */
export async function checkWalk(
  context: RowContext,
  seeded: Ledger,
  viaService: Fetcher,
  viaShell: Fetcher,
  pageSize: number,
): Promise<Walk> {
  const { checks, environment } = context;
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
  checks.equal('list: pages', pages, Math.ceil(seeded.payouts / pageSize));
  checks.equal('list: pages of a wrong size', wrongSize, 0);
  checks.equal('list: payouts out of order', outOfOrder, 0);
  checks.equal('list: different payouts in all pages', seen.size, seeded.payouts);
  checks.equal('list: pages whose bodies differ between the variants', different, 0);
  const pool = await environment.pool(LEDGER);
  const { rows } = await pool.query<{ id: string }>('select id from payouts.payouts where merchant_id = $1', [
    seeded.merchant.apiKey,
  ]);
  checks.equal(
    'list: payouts of the table that no page has',
    rows.filter(({ id }) => !seen.has(id)).length,
    0,
  );
  return { pages, cursors };
}
