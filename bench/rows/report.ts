import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { compare } from '../harness/compare.js';
import { alternate, type Samples, type Variant } from '../harness/measure.js';
import { count } from '../support/count.js';
import { createUsers } from '../support/payees.js';
import { row, expectEqual, type RowContext } from '../harness/row.js';
import { startBare } from '../support/bare.js';
import { load } from '../support/load.js';
import { ServiceProcess, startService } from '../support/service.js';
import { AMOUNT_MINOR, REPORT_PATH, reportsTo } from '../support/reports.js';
import type { Credentials } from '../support/sign.js';
import { eventually } from '../support/wait.js';

export interface Target {
  readonly name: string;
  /** Processes that share the connections. */
  readonly baseUrls: readonly string[];
  readonly path: string;
  readonly who: Credentials;
  readonly users: readonly string[];
  /** Reports of all rounds. */
  accepted: number;
  /** Throws unless rows and sums prove that `accepted` reports of all rounds are stored. */
  settled(accepted: number): Promise<void>;
}

/** POST payouts/report through the whole service, compared with a minimal server and with three commits. */
export const reportRow = row(
  'report',
  'POST /merchants/v1/payouts/report through the whole service, read models live',
  async (context) => {
    const { options, environment } = context;
    context.progress('starting the service');
    const service = await startService(environment, { name: 'report' });
    const served = await servedTarget(context, 'service', 'report', service);
    const bare = await startBare(environment, 'report-server', { who: served.who });
    const stored = await environment.pool('bare');
    const bareTarget = (name: 'group' | 'three'): Target => ({
      ...{ ...served, name, baseUrls: [bare.baseUrl], path: `/${name}${REPORT_PATH}` },
      settled: (accepted) => bareSettled(stored, name, accepted),
    });
    const samples = await measured(context, [served, bareTarget('group'), bareTarget('three')]);
    // The processes start after the references, which checks of their pending payouts would slow down.
    context.progress('starting two processes of the API and a worker');
    // A worker registers merchants and users.
    const env = { MASTER_KEY: randomBytes(32).toString('hex') };
    const database = 'split';
    const whole = await startService(environment, { name: 'split', env });
    const split = await servedTarget(context, 'split', database, whole);
    await whole.stop();
    const started = ['api', 'api', 'worker'].map((ROLES, n) =>
      new ServiceProcess(environment, { name: `split-${n}`, database, env: { ...env, ROLES } }).start(),
    );
    const [first, second] = await Promise.all(started);
    const apis = { ...split, baseUrls: [first!.baseUrl, second!.baseUrl] };
    const together = await measured(context, [served, apis]);
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
          goal: { atLeast: 0.8 },
        }),
        compare(together, {
          label: 'two processes of the API and a worker, compared with all roles in one process',
          subject: 'split',
          reference: 'service',
          goal: { atLeast: 0.8 },
        }),
      ],
      notes: [
        `${options.connections} connections, ${options.connections * options.reports} reports per variant and round, ` +
          `each with a fresh Idempotency-Key, to ${options.users} active users`,
      ],
    };
  },
);

export function measured(context: RowContext, targets: readonly Target[]): Promise<Samples> {
  return alternate(
    targets.map((target) => variantOf(context, target)),
    context.options.rounds,
    context.progress,
  );
}

/** `isStoreHere` is true if the events are in this database. */
export async function servedTarget(
  { options, environment, progress }: RowContext,
  name: string,
  database: string,
  service: ServiceProcess,
  isStoreHere = true,
): Promise<Target> {
  const { baseUrl, merchant: who } = service;
  progress(`creating ${options.users} active users`);
  const users = await createUsers(service, options.users);
  const pool = await environment.pool(database);
  const settled = (accepted: number): Promise<void> =>
    serviceSettled(pool, who.apiKey, accepted, isStoreHere);
  return { name, who, users, baseUrls: [baseUrl], path: REPORT_PATH, accepted: 0, settled };
}

function variantOf(context: RowContext, target: Target): Variant {
  const { name, baseUrls, path, who, users, settled } = target;
  return {
    name,
    run: async () => {
      const { connections, reports } = context.options;
      if (connections % baseUrls.length > 0) throw new Error('--connections must be even');
      const [each, links] = [(connections * reports) / baseUrls.length, connections / baseUrls.length];
      const loads = baseUrls.map((baseUrl) => [baseUrl, reportsTo(who, users, each, path)] as const);
      const took = await Promise.all(loads.map(([baseUrl, requests]) => load(baseUrl, requests, links)));
      target.accepted += connections * reports;
      await settled(target.accepted);
      return { units: connections * reports, seconds: Math.max(...took) };
    },
  };
}

/** Events, rows of the list, balance sums and stored responses all equal the number of 201s. */
async function serviceSettled(pool: pg.Pool, merchantId: string, accepted: number, isStoreHere: boolean) {
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
  const inStore = isStoreHere ? accepted : 0;
  const counts = { listed: accepted, stored: accepted, events: inStore, streams: inStore };
  expectEqual('rows and sums', found, { ...counts, sums });
}

async function bareSettled(pool: pg.Pool, variant: 'group' | 'three', accepted: number): Promise<void> {
  const tables = variant === 'three' ? ['events', 'claims', 'responses'] : ['events'];
  for (const table of tables)
    expectEqual(`${variant}: ${table}`, await count(pool, `${variant}_${table}`), accepted);
}
