/**
 * The two references of the report row in one process. /group checks the signature and inserts the event in a
 * group commit. /three checks it, then commits claim, event and response one after the other. The signed path
 * includes the prefix.
 */
import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { GroupCall } from '../../src/platform/jobs/group-call.js';
import { barePool, bareShell, rawBody } from './shell.js';

interface ReportBody {
  readonly user_id: string;
  readonly payout: {
    readonly amount: string;
    readonly transaction_hash: string;
    readonly custom_metadata?: object;
  };
}

const pool = barePool();

const EVENTS = `(position bigint generated always as identity primary key, id uuid not null, stream text not null,
  revision bigint not null, type text not null, data text not null, recorded_at timestamptz not null default now(),
  unique (stream, revision))`;
await pool.query(`
  create table if not exists group_events ${EVENTS};
  create table if not exists three_events ${EVENTS};
  create table if not exists three_claims (merchant_id text, key text, primary key (merchant_id, key));
  create table if not exists three_responses (merchant_id text, key text, body text, primary key (merchant_id, key));
`);

/** One insert in flight; reports that arrive meanwhile share the next one. */
const group = new GroupCall<ReturnType<typeof reportOf>['event'], void>(async (events) => {
  await pool.query({
    name: 'group-insert',
    text: `insert into group_events (id, stream, revision, type, data)
      select id, stream, 0, type, data
      from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as e (id, stream, type, data)`,
    values: (['id', 'stream', 'type', 'data'] as const).map((name) => events.map((event) => event[name])),
  });
  return events.map(() => undefined);
});

const app = bareShell();

app.post('/group/merchants/v1/payouts/report', async (request, reply) => {
  const { event, response } = reportOf(request);
  await group.call(event);
  return reply.code(201).type('application/json').send(response);
});

app.post('/three/merchants/v1/payouts/report', async (request, reply) => {
  const { event, response } = reportOf(request);
  const owner = [request.headers['svc-api-key'], request.headers['idempotency-key']];
  await pool.query({
    name: 'claim',
    text: 'insert into three_claims (merchant_id, key) values ($1, $2)',
    values: owner,
  });
  await pool.query({
    name: 'event',
    text: 'insert into three_events (id, stream, revision, type, data) values ($1, $2, 0, $3, $4)',
    values: [event.id, event.stream, event.type, event.data],
  });
  await pool.query({
    name: 'response',
    text: 'insert into three_responses (merchant_id, key, body) values ($1, $2, $3)',
    values: [...owner, response],
  });
  return reply.code(201).type('application/json').send(response);
});

await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });

/** Returns the event and the response of one report, with the same fields as in the service. */
function reportOf(request: FastifyRequest) {
  const { user_id, payout } = JSON.parse(rawBody(request).toString()) as ReportBody;
  const { amount, transaction_hash, custom_metadata = {} } = payout;
  const id = randomUUID();
  const now = new Date();
  const facts = { user_id, amount, currency_code: 'USDC', transaction_hash, created_at: now.toISOString() };
  const data = {
    payout_id: id,
    merchant_id: request.headers['svc-api-key'],
    ...facts,
    custom_metadata: JSON.stringify(custom_metadata),
    chain_id: 31337,
    expires_at: new Date(now.getTime() + 86_400_000).toISOString(),
  };
  const event = { id: randomUUID(), stream: `payout-${id}`, type: 'payout.reported.v1' };
  return {
    event: { ...event, data: JSON.stringify(data) },
    response: JSON.stringify({ payout: { id, ...facts, status: 'pending', reason: null, custom_metadata } }),
  };
}
