import { createHmac, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { compare } from '../harness/compare.js';
import { alternate, type Variant } from '../harness/measure.js';
import type { Row, RowContext, RowOutcome } from '../harness/row.js';
import { startBare } from '../support/bare.js';
import { load } from '../support/load.js';
import { startService, type Service } from '../support/service.js';
import type { SignedRequest } from '../support/sign.js';
import { eventually } from '../support/wait.js';

const ADDRESS = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
/** Both the service's list and its provider may lag behind the last 201 by this much on a busy machine. */
const SETTLE_MS = 180_000;

interface Target {
  readonly name: string;
  readonly baseUrl: string;
  /** Rows that prove that `accepted` orders (of all rounds) are there. Throws when they never come. */
  settled(accepted: number): Promise<void>;
}

/** POST /v1/orders at the sandbox provider, each with a deposit address of its own, beside the least that could do the job. */
export const exchangeOrdersRow: Row = {
  name: 'exchange-orders',
  title:
    'POST /v1/orders through the whole service, a deposit address each, read models live and orders watched',
  run: runOrders,
};

async function runOrders(context: RowContext): Promise<RowOutcome> {
  const { options, environment } = context;
  context.progress('starting the service');
  const service = await startService(environment, { name: 'exchange_orders' });
  const { api_key: apiKey, secret: privateKey } = service.exchange;
  const bare = await startBare(environment, 'exchange-orders-server', 'exchange_orders_bare', {
    apiKey,
    privateKey,
  });
  const served = await environment.pool('exchange_orders');
  const stored = await environment.pool('exchange_orders_bare');
  const targets: Target[] = [
    {
      name: 'service',
      baseUrl: service.baseUrl,
      settled: (accepted) => serviceSettled(context, served, accepted),
    },
    {
      name: 'bare',
      baseUrl: bare.baseUrl,
      settled: async (accepted) =>
        context.checks.equal('bare: events', await count(stored, 'select from group_events'), accepted),
    },
  ];
  const variants = targets.map((target) => variantOf(context, target, service.exchange));
  const samples = await alternate(variants, options.rounds, context.progress);
  return {
    comparisons: [
      compare(samples, {
        label: 'beside bare Fastify, signature, one group-committed insert',
        subject: 'service',
        reference: 'bare',
        goal: { atLeast: 0.6 },
      }),
    ],
    notes: [
      `${options.connections} connections, ${options.connections * options.reports} orders per variant and round, ` +
        'each with a fresh Idempotency-Key',
    ],
  };
}

function variantOf(context: RowContext, target: Target, key: Service['exchange']): Variant {
  let accepted = 0;
  return {
    name: target.name,
    run: async (round) => {
      const { connections, reports } = context.options;
      const requests = Array.from({ length: connections * reports }, () => order(key));
      const result = await load(target.baseUrl, requests, connections);
      const when = round < 0 ? 'warm-up' : `round ${round + 1}`;
      context.checks.equal(`${target.name}, ${when}: responses`, result.statuses, { 201: requests.length });
      context.checks.equal(`${target.name}, ${when}: lost connections and repeats`, result.troubles, 0);
      accepted += result.statuses['201'] ?? 0;
      await target.settled(accepted);
      return { units: requests.length, seconds: result.seconds };
    },
  };
}

function order({ api_key, secret }: Service['exchange']): SignedRequest {
  const signature = createHmac('sha256', secret).update(`withdraw_address=${ADDRESS}`).digest('hex');
  const query = { api_key, signature, pair_id: 'USDCSOL', withdraw_address: ADDRESS };
  return {
    method: 'POST',
    path: `/v1/orders?${new URLSearchParams(query)}`,
    body: '',
    headers: { 'idempotency-key': `"${randomUUID()}"` },
  };
}

/** Events, rows of the list, orders at the provider and their addresses, and orders watched all equal the number of 201s. */
async function serviceSettled(context: RowContext, pool: pg.Pool, accepted: number): Promise<void> {
  const listed = 'select from exchange.orders';
  await eventually(
    'the list holds all orders',
    async () => (await count(pool, listed)) >= accepted,
    SETTLE_MS,
  );
  const watched = 'select from exchange.watches';
  await eventually('all orders are watched', async () => (await count(pool, watched)) >= accepted, SETTLE_MS);
  const events = `select from event_store.events where type = 'order.created.v1'`;
  context.checks.equal('order.created events', await count(pool, events), accepted);
  context.checks.equal('rows in the list', await count(pool, listed), accepted);
  const addresses = 'select distinct lower(deposit_address) from exchange.sandbox_orders';
  context.checks.equal('deposit addresses', await count(pool, addresses), accepted);
}

async function count(pool: pg.Pool, rows: string): Promise<number> {
  return Number((await pool.query<{ n: string }>(`select count(*) as n from (${rows}) each`)).rows[0]!.n);
}
