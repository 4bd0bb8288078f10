import { Pool } from 'undici';
import { compare, type Comparison } from '../harness/compare.js';
import { alternate, timed, type Variant } from '../harness/measure.js';
import { row, expectEqual, type RowContext } from '../harness/row.js';
import { LEDGER, ledger, type Ledger } from '../seed/ledger.js';
import { startBare } from '../support/bare.js';
import { startService } from '../support/service.js';
import { signed, type Credentials } from '../support/sign.js';

const PAGE = 1000;
const READERS = 4;
const SLICES = 8;

/** Signed GETs over a few keep-alive connections, for bodies too large for the load generator. */
class Fetcher {
  private readonly pool: Pool;

  constructor(
    baseUrl: string,
    private readonly who: Credentials,
  ) {
    this.pool = new Pool(baseUrl, { connections: READERS, pipelining: 1 });
  }

  async get(path: string): Promise<ArrayBuffer> {
    const { headers } = signed(this.who, 'GET', path);
    const response = await this.pool.request({ method: 'GET', path, headers: { ...headers } });
    if (response.statusCode !== 200)
      throw new Error(`GET ${path}: ${response.statusCode} ${(await response.body.text()).slice(0, 300)}`);
    return response.body.arrayBuffer();
  }

  async json(path: string): Promise<unknown> {
    return JSON.parse(Buffer.from(await this.get(path)).toString());
  }

  close(): Promise<void> {
    return this.pool.close();
  }
}

/** Pages of 1000 payouts at any position of a very long list, with any filter. */
export const listRow = row('list', 'GET /merchants/v1/payouts, pages of 1000', async (context) => {
  const { environment, options } = context;
  const seeded = await ledger(context);
  const pool = await environment.pool(LEDGER);
  await pool.query('vacuum analyze payouts.payouts');
  // No worker runs, so that the pending payouts of the seed are not verified.
  const service = await startService(environment, { name: LEDGER, env: { ROLES: 'api' } });
  const bare = await startBare(environment, 'read-server', { database: LEDGER, who: seeded.merchant });
  const viaService = new Fetcher(service.baseUrl, seeded.merchant);
  const viaShell = new Fetcher(bare.baseUrl, seeded.merchant);
  try {
    const cursors = await walk(context, viaService, viaShell);
    const pages = Math.ceil(options.pages / SLICES);
    const repeated = (name: string, query: string): Variant =>
      reading(name, viaShell, Array<string>(pages).fill(`/query?page_size=${PAGE}${query}`));
    const variants = [
      ...pageVariants(pages, cursors, viaService, viaShell),
      repeated('first page', ''),
      repeated('last page', `&page_cursor=${cursors.at(-1)!}`),
      ...Object.entries(filters(seeded)).map(([name, query]) => repeated(name, `&${query}`)),
    ];
    const samples = await alternate(variants, options.rounds, context.progress, SLICES);
    return {
      comparisons: [
        ...MAKING.map((each) => compare(samples, each)),
        ...['last page', ...Object.keys(filters(seeded))].map((subject) => {
          const label = `${subject}, compared with the first page`;
          return compare(samples, { label, subject, reference: 'first page', goal: { atMost: 1.25 } });
        }),
      ],
      notes: [
        `${options.payouts} payouts; ${options.pages} pages per variant and round, ${READERS} readers at a time`,
        'the query and the objects run in one and the same shell; "whole service" is the signed GET through all of it',
      ],
    };
  } finally {
    await Promise.all([viaService.close(), viaShell.close()]);
  }
});

/**
 * Reads the whole list through the service and returns the cursors of the full pages after the first. Throws
 * when a payout is missing or repeated, or the variants differ on the first or the last page.
 */
async function walk({ options, progress }: RowContext, viaService: Fetcher, viaShell: Fetcher) {
  const seen = new Set<string>();
  const cursors: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    progress(`walking the list: ${seen.size} payouts`);
    const query: string = `?page_size=${PAGE}${cursor === '' ? '' : `&page_cursor=${cursor}`}`;
    const page = (await viaService.json(`/merchants/v1/payouts${query}`)) as {
      readonly payouts: readonly { readonly id: string }[];
      readonly next_cursor: string | null;
    };
    for (const path of seen.size === 0 || page.next_cursor === null ? ['/query', '/objects'] : [])
      expectEqual(`list: ${path}`, await viaShell.json(path + query), page);
    for (const { id } of page.payouts) seen.add(id);
    if (cursor !== '' && page.payouts.length === PAGE) cursors.push(cursor);
    cursor = page.next_cursor;
  }
  expectEqual('list: different payouts in all pages', seen.size, options.payouts);
  return cursors;
}

const MAKING: readonly Comparison[] = [
  {
    label: "the service's query compared with mapping rows and JSON.stringify",
    subject: 'query',
    reference: 'objects',
    goal: { atLeast: 1.8 },
  },
  {
    label: 'the whole service compared with mapping rows in a bare shell',
    subject: 'service',
    reference: 'objects',
    goal: { atLeast: 1.1 },
  },
];

/** The pool sends one request at a time per connection. */
const reading = (name: string, fetcher: Fetcher, paths: readonly string[]): Variant => ({
  name,
  run: async () => {
    const seconds = await timed(() => Promise.all(paths.map((path) => fetcher.get(path))));
    return { units: paths.length, seconds };
  },
});

function pageVariants(
  pages: number,
  cursors: readonly string[],
  viaService: Fetcher,
  viaShell: Fetcher,
): Variant[] {
  // All variants read the same pages, spread over the whole list.
  const places = Array.from({ length: pages }, (_, i) => cursors[Math.floor((i * cursors.length) / pages)]!);
  const paths = (base: string): string[] =>
    places.map((cursor) => `${base}?page_size=${PAGE}&page_cursor=${cursor}`);
  return [
    reading('service', viaService, paths('/merchants/v1/payouts')),
    reading('query', viaShell, paths('/query')),
    reading('objects', viaShell, paths('/objects')),
  ];
}

function filters({ richUser, poorUser }: Ledger): Record<string, string> {
  const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const user = `user_id=${richUser}`;
  const range = `created_from=${day(60)}&created_to=${day(30)}`;
  return {
    user_id: user,
    'status=pending': 'status=pending',
    'status=received': 'status=received',
    'status=expired': 'status=expired',
    created_from: `created_from=${day(60)}`,
    created_to: `created_to=${day(60)}`,
    'created_from and created_to': range,
    'user_id and status': `${user}&status=expired`,
    'user_id and dates': `${user}&${range}`,
    'status and dates': `status=expired&${range}`,
    'user_id, status and dates': `${user}&status=expired&${range}`,
    'a user with 10 payouts': `user_id=${poorUser}`,
    'a user with 10 payouts, status, dates': `user_id=${poorUser}&status=expired&${range}`,
  };
}
