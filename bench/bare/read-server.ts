/**
 * One shell (Fastify, signature check), two routes over the service's own read models: /query runs the service's query,
 * /objects is what it is compared with.
 */
import type { FastifyRequest } from 'fastify';
import { Database } from '../../src/platform/postgres/database.js';
import { PayoutsView, type PayoutFilter } from '../../src/contexts/payouts/views/payouts.js';
import { decodeCursor } from '../../src/platform/postgres/page-cursor.js';
import { listObjects } from './list-objects.js';
import { bareShell } from './shell.js';

const keys = new Map(Object.entries(JSON.parse(process.env['KEYS']!) as Record<string, string>));
const database = await Database.connect({
  url: process.env['DATABASE_URL']!,
  poolSize: Number(process.env['POOL_SIZE']),
});
const payouts = new PayoutsView(database);
const app = bareShell(keys);

app.get('/query', async (request, reply) =>
  reply.type('application/json').send(await payouts.page(merchantOf(request), filterOf(request))),
);
app.get('/objects', async (request, reply) =>
  reply
    .type('application/json')
    .send(await listObjects(database.pool, merchantOf(request), filterOf(request))),
);
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
