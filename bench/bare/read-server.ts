/** One shell with two routes over the service's read models: /query (the service's query) and /objects. */
import type { FastifyRequest } from 'fastify';
import { Database } from '../../src/platform/postgres/database.js';
import { PayoutsView, type PayoutFilter } from '../../src/contexts/payouts/payouts/payouts.view.js';
import { decodeCursor, encodeCursor, withinList } from '../../src/platform/postgres/page-cursor.js';
import { bareShell } from './shell.js';

/** The same payouts in a table with a column per field, for the mapping of rows to objects. */
const OBJECTS_TABLE = `
create schema if not exists bench;
drop table if exists bench.objects;
create table bench.objects as
select p.id, p.merchant_id, p.user_id, b.json->>'amount' as amount, b.json->>'currency_code' as currency_code,
  b.json->>'status' as status, b.json->>'transaction_hash' as transaction_hash, b.json->>'reason' as reason,
  b.json->'custom_metadata' as custom_metadata, p.created_at
from payouts.payouts p, lateral (select p.body::json as json) b;
alter table bench.objects add primary key (id);
create index on bench.objects (merchant_id, created_at desc, id desc);
analyze bench.objects;
`;

interface Payout {
  readonly id: string;
  readonly created_at: Date;
}

const database = await Database.connect({
  url: process.env['DATABASE_URL']!,
  poolSize: Number(process.env['POOL_SIZE']),
});
const payouts = new PayoutsView(database);
await database.query(OBJECTS_TABLE);
const app = bareShell();

app.get('/query', async (request, reply) =>
  reply.type('application/json').send(await sameList(request, (...page) => payouts.page(...page))),
);
app.get('/objects', async (request, reply) =>
  reply.type('application/json').send(await sameList(request, listObjects)),
);
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });

/** The cursors are those of the service's list with the same filters. */
function sameList(
  request: FastifyRequest,
  read: (merchantId: string, filter: PayoutFilter) => Promise<string>,
): Promise<string> {
  const filters = Object.entries(request.query as Record<string, string>)
    .filter(([name]) => !name.startsWith('page_'))
    .sort();
  return withinList(['/merchants/v1/payouts', filters], () => read(merchantOf(request), filterOf(request)));
}

const merchantOf = (request: FastifyRequest): string => request.headers['svc-api-key'] as string;

function filterOf(request: FastifyRequest): PayoutFilter {
  const query = request.query as Record<string, string | undefined>;
  return {
    page_size: Number(query['page_size'] ?? 1000),
    user_id: query['user_id'],
    ...(query['status'] === undefined ? {} : { status: query['status'] as 'pending' }),
    created_from: query['created_from'],
    created_to: query['created_to'],
    page_cursor: decodeCursor(query['page_cursor'] ?? '') ?? undefined,
  };
}

/** Returns a page by mapping rows to objects and objects to JSON, with keyset pagination and no filters. */
async function listObjects(merchantId: string, { page_cursor, page_size }: PayoutFilter): Promise<string> {
  const { rows } = await database.pool.query<Payout>({
    text: `select id, user_id, amount, currency_code, status, transaction_hash, reason, custom_metadata, created_at
      from bench.objects where merchant_id = $1 ${page_cursor ? 'and (created_at, id) < ($3, $4)' : ''}
      order by created_at desc, id desc limit $2`,
    values: [merchantId, page_size + 1, ...(page_cursor ? [page_cursor.time, page_cursor.id] : [])],
  });
  const last = rows.length > page_size ? rows[page_size - 1] : undefined;
  return JSON.stringify({
    payouts: rows.slice(0, page_size).map((row) => ({ ...row, created_at: row.created_at.toISOString() })),
    next_cursor: last === undefined ? null : encodeCursor(last.created_at, last.id),
  });
}
