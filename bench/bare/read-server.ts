/**
 * One shell (Fastify, signature check), four routes over the service's own read models:
 * /query and /balance run the service's queries, /objects and /row are what they are compared with.
 */
import type { FastifyRequest } from 'fastify';
import { Database } from '../../src/platform/postgres/database.js';
import { BalancesView } from '../../src/contexts/payouts/views/balances.js';
import { PayoutsView, type PayoutFilter } from '../../src/contexts/payouts/views/payouts.js';
import { decodeCursor } from '../../src/platform/http/page-cursor.js';
import { listObjects } from './list-objects.js';
import { bareShell } from './shell.js';

const keys = new Map(Object.entries(JSON.parse(process.env['KEYS']!) as Record<string, string>));
const database = await Database.connect({
  url: process.env['DATABASE_URL']!,
  poolSize: Number(process.env['POOL_SIZE']),
});
const [payouts, balances] = [new PayoutsView(database), new BalancesView(database)];
const app = bareShell(keys);

app.get('/query', async (request, reply) =>
  reply.type('application/json').send(await payouts.page(merchantOf(request), filterOf(request))),
);
app.get('/objects', async (request, reply) =>
  reply
    .type('application/json')
    .send(await listObjects(database.pool, merchantOf(request), filterOf(request))),
);
app.get<{ Params: { id: string } }>('/balance/:id', async (request, reply) =>
  reply
    .type('application/json')
    .send(JSON.stringify({ balance: await balances.find(merchantOf(request), request.params.id) })),
);
app.get<{ Params: { id: string } }>('/row/:id', async (request, reply) => {
  const [row] = await database.query('select * from payouts.balances where user_id = $1', [
    request.params.id,
  ]);
  return reply.type('application/json').send(JSON.stringify({ row }));
});

await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });

function merchantOf(request: FastifyRequest): string {
  return request.headers['svc-api-key'] as string;
}

function filterOf(request: FastifyRequest): PayoutFilter {
  const query = request.query as Record<string, string | undefined>;
  const place = query['page_cursor'] === undefined ? null : decodeCursor(query['page_cursor']);
  return {
    pageSize: Number(query['page_size'] ?? 1000),
    ...(query['user_id'] === undefined ? {} : { userId: query['user_id'] }),
    ...(query['status'] === undefined ? {} : { status: query['status'] as 'pending' }),
    ...(query['created_from'] === undefined ? {} : { createdFrom: query['created_from'] }),
    ...(query['created_to'] === undefined ? {} : { createdTo: query['created_to'] }),
    ...(place === null ? {} : { after: place }),
  };
}
