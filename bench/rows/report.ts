import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { compare } from '../harness/compare.js';
import { alternate, type Variant } from '../harness/measure.js';
import { SignedClient } from '../../test/support/http/signed-client.js';
import { createPayee } from '../../test/support/payouts/payout-calls.js';
import { expectEqual, type Row, type RowContext, type RowOutcome } from '../harness/row.js';
import { startBare } from '../support/bare.js';
import { load } from '../support/load.js';
import { startService } from '../support/service.js';
import { signed, type Credentials, type SignedRequest } from '../support/sign.js';
import { eventually } from '../support/wait.js';

const PATH = '/merchants/v1/payouts/report';
/** The one amount that all reports have, and its minor units. */
const AMOUNT = '1.25';
const AMOUNT_MINOR = 1_250_000n;

interface Target {
  readonly name: string;
  readonly baseUrl: string;
  readonly path: string;
  /** Rows and sums that prove that `accepted` reports (of all rounds) are there. Throws when they never come. */
  settled(accepted: number): Promise<void>;
}

/** POST payouts/report through the whole service, compared with the least that could do the job and with three commits. */
export const reportRow: Row = {
  name: 'report',
  title: 'POST /merchants/v1/payouts/report through the whole service, read models live',
  run: runReport,
};

async function runReport(context: RowContext): Promise<RowOutcome> {
  const { options, environment } = context;
  context.progress('starting the service');
  const service = await startService(environment, { name: 'report' });
  context.progress(`creating ${options.users} active users`);
  const client = new SignedClient(service.baseUrl, service.merchant);
  const payees = Array.from({ length: options.users }, () => createPayee(client));
  const users = (await Promise.all(payees)).map(({ id }) => id);
  const bare = await startBare(environment, 'report-server', { who: service.merchant });
  const served = await environment.pool('report');
  const stored = await environment.pool('bare');
  const targets: Target[] = [
    {
      name: 'service',
      baseUrl: service.baseUrl,
      path: PATH,
      settled: (accepted) => serviceSettled(served, service.merchant.apiKey, accepted),
    },
    {
      name: 'group',
      baseUrl: bare.baseUrl,
      path: `/group${PATH}`,
      settled: (accepted) => bareSettled(stored, 'group', accepted),
    },
    {
      name: 'three',
      baseUrl: bare.baseUrl,
      path: `/three${PATH}`,
      settled: (accepted) => bareSettled(stored, 'three', accepted),
    },
  ];
  const variants = targets.map((target) => variantOf(context, target, service.merchant, users));
  const samples = await alternate(variants, options.rounds, context.progress);
  return {
    comparisons: [
      compare(samples, {
        label: 'compared with bare Fastify, signature, one group-committed insert',
        subject: 'service',
        reference: 'group',
        goal: { atLeast: 0.2 },
      }),
      compare(samples, {
        label: 'compared with claim, event, response committed one by one',
        subject: 'service',
        reference: 'three',
        goal: { atLeast: 1 },
      }),
    ],
    notes: [
      `${options.connections} connections, ${options.connections * options.reports} reports per variant and round, ` +
        `each with a fresh Idempotency-Key, to ${users.length} active users`,
    ],
  };
}

function variantOf(context: RowContext, target: Target, who: Credentials, users: readonly string[]): Variant {
  let accepted = 0;
  return {
    name: target.name,
    run: async (round) => {
      const { connections, reports } = context.options;
      const requests = Array.from({ length: connections * reports }, (_, i) =>
        reportTo(who, users[i % users.length]!, target.path),
      );
      const result = await load(target.baseUrl, requests, connections);
      const when = round < 0 ? 'warm-up' : `round ${round + 1}`;
      expectEqual(`${target.name}, ${when}: responses`, result.statuses, { 201: requests.length });
      expectEqual(`${target.name}, ${when}: lost connections and repeats`, result.troubles, 0);
      accepted += result.statuses['201'] ?? 0;
      await target.settled(accepted);
      return { units: requests.length, seconds: result.seconds };
    },
  };
}

/** A report of another transfer each time, with a fresh Idempotency-Key. */
export function reportTo(who: Credentials, userId: string, path = PATH): SignedRequest {
  const body = JSON.stringify({
    user_id: userId,
    payout: {
      amount: AMOUNT,
      transaction_hash: `0x${randomBytes(32).toString('hex')}`,
      currency_code: 'USDC',
    },
  });
  return signed(who, 'POST', path, body, { 'idempotency-key': `"${randomUUID()}"` });
}

/** Events, rows of the list, balance sums and stored responses all equal the number of 201s. */
async function serviceSettled(pool: pg.Pool, merchantId: string, accepted: number): Promise<void> {
  const one = async (sql: string): Promise<Record<string, unknown>> =>
    (await pool.query<Record<string, unknown>>(sql, [merchantId])).rows[0]!;
  const listed = 'select count(*)::int as listed from payouts.payouts where merchant_id = $1';
  await eventually(
    'the list holds all reports',
    async () => Number((await one(listed))['listed']) >= accepted,
  );
  const found = await one(
    `select (${listed}), (select count(*)::int from event_store.responses
         where status = 201 and body like '%\n{"payout":%') as stored,
       count(*)::int as events, count(distinct stream)::int as streams,
       (select sum(pending)::text || ' ' || sum(confirmed) from payouts.balances where merchant_id = $1) as sums
     from event_store.events where type = 'payout.reported.v1'`,
  );
  const sums = `${BigInt(accepted) * AMOUNT_MINOR} 0`;
  const count = { listed: accepted, stored: accepted, events: accepted, streams: accepted };
  expectEqual('rows and sums', found, { ...count, sums });
}

async function bareSettled(pool: pg.Pool, variant: 'group' | 'three', accepted: number): Promise<void> {
  const tables = variant === 'three' ? ['events', 'claims', 'responses'] : ['events'];
  for (const table of tables) {
    const { rows } = await pool.query<{ n: number }>(`select count(*)::int as n from ${variant}_${table}`);
    expectEqual(`${variant}: ${table}`, rows[0]!.n, accepted);
  }
}
