/**
 * The reference of the row of exchange orders: the signature of the exchange API (contract.md 21.3), and one
 * group-committed insert of the event. No provider, no address of its own for each order.
 */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import pg from 'pg';
import { EVENTS_TABLE } from './event.js';
import { GroupCommit } from './group-commit.js';
import { bareShell, type Keys } from './shell.js';

interface OrderQuery {
  readonly api_key?: string;
  readonly signature?: string;
  readonly pair_id?: string;
  readonly withdraw_address?: string;
}

const HOUR_MS = 3_600_000;
const keys = new Map(Object.entries(JSON.parse(process.env['KEYS']!) as Record<string, string>));
const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['POOL_SIZE']),
});
await pool.query(`create table if not exists group_events ${EVENTS_TABLE}`);

const app = bareShell(keys, isSigned);
const group = new GroupCommit(pool);

app.post('/v1/orders', async (request, reply) => {
  const query = request.query as OrderQuery;
  const id = randomUUID();
  const now = new Date();
  const order = {
    pair_id: query.pair_id,
    withdraw_address: query.withdraw_address,
    withdraw_address_tag: null,
    withdraw_address_memo: null,
    user_id: null,
    deposit_address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
    deposit_address_tag: null,
    amount_from: '100',
    amount_to: '0.5',
    rate: '0.005',
    minimum: '5',
    maximum: '5000',
    created_at: now.toISOString(),
    expires_at: new Date(now.getTime() + HOUR_MS).toISOString(),
  };
  const ours = { order_id: id, key_id: query.api_key, provider: 'sandbox', provider_reference: id };
  await group.append({
    id: randomUUID(),
    stream: `order-${id}`,
    type: 'order.created.v1',
    data: JSON.stringify({ ...ours, ...order }),
  });
  const response = { order: { id, status: 'pending', reason: null, ...order }, compliance_notice: null };
  return reply.code(201).type('application/json').send(JSON.stringify(response));
});

await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });

function isSigned(request: FastifyRequest, known: Keys): boolean {
  const { api_key: apiKey, signature, withdraw_address: address } = request.query as OrderQuery;
  const secret = known.get(apiKey ?? '');
  if (secret === undefined || signature === undefined || address === undefined) return false;
  const expected = createHmac('sha256', secret).update(`withdraw_address=${address}`).digest();
  const given = Buffer.from(signature, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
