/**
 * The reference of the events row. It checks the signature and, by the service's rules, the items of the
 * body. Then it stores the raw body in one row and responds with 202 after the commit.
 */
import { randomUUID } from 'node:crypto';
import { countItems } from '../../src/contexts/tracking/batches/event-batch.js';
import { barePool, bareShell, rawBody } from './shell.js';

const pool = barePool();
await pool.query(`
  create table if not exists bare_batches (
    batch_id uuid primary key,
    merchant_id uuid not null,
    received_at timestamptz not null,
    item_count int not null,
    body bytea not null
  );
  alter table bare_batches alter column body set storage external;
`);

const app = bareShell();

app.post('/merchants/v1/events', async (request, reply) => {
  const body = rawBody(request);
  const items = countItems(JSON.parse(body.toString()));
  await pool.query({
    name: 'batch',
    text: 'insert into bare_batches (batch_id, merchant_id, received_at, item_count, body) values ($1, $2, $3, $4, $5)',
    values: [randomUUID(), request.headers['svc-api-key'], new Date(), items, body],
  });
  return reply.code(202).send();
});

await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
