import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { MIGRATIONS } from '../../src/composition.js';
import { SigningSecrets } from '../../src/contexts/webhooks/endpoints/signing-secrets.store.js';
import { migrate } from '../../src/platform/postgres/migrate.js';
import { ringOf } from '../../test/support/key-ring.js';
import type { Received } from '../bare/receiver.js';
import { compare } from '../harness/compare.js';
import { alternate, type Variant } from '../harness/measure.js';
import { row, expectEqual, type RowContext } from '../harness/row.js';
import { runOnce, startBare } from '../support/bare.js';
import { ServiceProcess } from '../support/service.js';
import { count } from '../support/count.js';
import { eventually } from '../support/wait.js';
import { envelope } from '../../src/contexts/webhooks/deliveries/published-events.service.js';
import { withJsonText } from '../../src/platform/json-text/json-text.js';

const CHUNK = 5000;

interface SeededEndpoint {
  readonly endpoint_id: string;
  readonly merchant_id: string;
  readonly url: string;
  readonly secret: string;
  readonly sealed_signing_secret: string;
}

function seedEndpoints(
  count: number,
  url: (index: number) => string,
  secrets: SigningSecrets,
): SeededEndpoint[] {
  return Array.from({ length: count }, (_, index) => {
    const place = { endpoint_id: randomUUID(), merchant_id: randomUUID() };
    const sealed_signing_secret = secrets.create(place);
    const secret = secrets.open(place, sealed_signing_secret);
    return { ...place, url: url(index), secret, sealed_signing_secret };
  });
}

/** Returns due deliveries, spread evenly over the endpoints. `secrets` is null for the reference. */
function* deliveriesTo(
  endpoints: readonly SeededEndpoint[],
  count: number,
  secrets: SigningSecrets | null,
): Generator<object[]> {
  for (let from = 0; from < count; from += CHUNK) {
    yield Array.from({ length: Math.min(CHUNK, count - from) }, (_, index) => {
      const row = delivery(endpoints[(from + index) % endpoints.length]!);
      const due = { ...row, state: 'pending', attempts: 0, due_at: new Date() };
      if (secrets === null) return { ...due, claimed: false };
      const mac = secrets.toMac({ ...row, is_test: false });
      return { ...due, mac, is_test: false, attempts_before: 0, created_at: new Date() };
    });
  }
}

function delivery({ endpoint_id, merchant_id }: SeededEndpoint) {
  const delivery_id = randomUUID();
  const fields = {
    payout_id: randomUUID(),
    user_id: randomUUID(),
    amount: '12.5',
    currency_code: 'USDC',
    transaction_hash: `0x${randomBytes(32).toString('hex')}`,
  };
  const body = envelope(delivery_id, {
    type: 'payout.received',
    occurredAt: new Date().toISOString(),
    merchantId: merchant_id,
    data: withJsonText(fields, 'custom_metadata', '{}'),
  });
  return { delivery_id, endpoint_id, merchant_id, type: 'payout.received' as const, body };
}

const DATABASE = 'deliveries';
/** The maximum of POSTs in flight, for the service and for the reference. */
const IN_FLIGHT = 16;
const POLL_MS = 100;

interface DeliveryTarget {
  readonly name: string;
  readonly pool: pg.Pool;
  readonly schema: string;
  readonly endpoints: readonly SeededEndpoint[];
  /** Seals the secrets of the service's endpoints; null for the reference. */
  readonly secrets: SigningSecrets | null;
  start(): Promise<unknown>;
}

/** Webhook deliveries through the service, compared with a minimal sender. */
export const deliveriesRow = row(
  'deliveries',
  'webhook deliveries that are due, sent and recorded',
  async (context) => {
    const { environment, options } = context;
    context.progress('starting receiver, service and reference');
    const { baseUrl: receiver } = await startBare(environment, 'receiver', { readyPath: '/' });
    const masterKey = randomBytes(32);
    const url = await environment.database(DATABASE);
    await migrate(url, MIGRATIONS);
    const secrets = new SigningSecrets(await ringOf(url, masterKey));
    const endpoints = seedEndpoints(options.endpoints, (index) => `${receiver}/hooks/${index}`, secrets);
    const service = await serviceTarget(context, masterKey, endpoints, secrets);
    const targets: DeliveryTarget[] = [
      { ...service, name: 'one', endpoints: endpoints.slice(0, 1) },
      service,
      await bareTarget(context, endpoints.slice(0, 1)),
    ];
    const variants = targets.map((target) => variantOf(context, receiver, target));
    const samples = await alternate(variants, options.rounds, context.progress);
    return {
      comparisons: [
        compare(samples, {
          label: 'compared with a bare loop: claim 500, POST, group-committed record',
          subject: 'one',
          reference: 'loop',
          goal: { atLeast: 0.6 },
        }),
        compare(samples, {
          label: 'many endpoints compared with one',
          subject: 'many',
          reference: 'one',
          goal: { atLeast: 0.8 },
        }),
      ],
      notes: [
        `${options.deliveries} deliveries per variant and round, at most ${IN_FLIGHT} in flight; ` +
          `many endpoints are ${options.endpoints}`,
      ],
    };
  },
);

/** The service as a worker, which sweeps once a second. */
async function serviceTarget(
  { environment }: RowContext,
  masterKey: Buffer,
  endpoints: readonly SeededEndpoint[],
  secrets: SigningSecrets,
): Promise<DeliveryTarget> {
  const env = { ROLES: 'worker', MASTER_KEY: masterKey.toString('hex') };
  await new ServiceProcess(environment, { name: DATABASE, env }).start();
  const pool = await environment.pool(DATABASE);
  // The endpoints as the saga folds them.
  await pool.query(
    `insert into webhooks.endpoint_snapshots (endpoint_id, merchant_id, url, sealed_signing_secret, status, position)
     select endpoint_id, merchant_id, url, sealed_signing_secret, 'enabled', '0'
     from jsonb_to_recordset($1) as e (endpoint_id uuid, merchant_id uuid, url text, sealed_signing_secret text)`,
    [JSON.stringify(endpoints)],
  );
  return { name: 'many', pool, schema: 'webhooks', endpoints, secrets, start: async () => undefined };
}

async function bareTarget(
  { environment }: RowContext,
  endpoints: readonly SeededEndpoint[],
): Promise<DeliveryTarget> {
  const env = { IN_FLIGHT: String(IN_FLIGHT) };
  const { baseUrl } = await startBare(environment, 'deliveries-loop', { database: 'loop', env });
  const pool = await environment.pool('loop');
  await pool.query(
    `insert into endpoints select * from jsonb_to_recordset($1) as e (endpoint_id uuid, url text, secret text)`,
    [JSON.stringify(endpoints)],
  );
  const start = (): Promise<void> => runOnce(baseUrl);
  return { name: 'loop', pool, schema: 'public', endpoints, secrets: null, start };
}

function variantOf(context: RowContext, receiver: string, target: DeliveryTarget): Variant {
  const { name, endpoints } = target;
  return {
    name,
    run: async () => {
      const number = context.options.deliveries;
      await fill(context, target, number);
      await target.start();
      await eventually(`${number} attempts`, async () => (await attempts(target)) >= number, 60_000, POLL_MS);
      const { sample, ...received } = (await (await fetch(receiver)).json()) as Received;
      expectEqual('received', received, { requests: number, ids: number, paths: endpoints.length });
      const { head, body } = sample!;
      const { secret } = endpoints.find(({ url }) => head.startsWith(`POST ${new URL(url).pathname} `))!;
      const fields = [...head.matchAll(/^([^:\s]+): (.*)$/gm)];
      const headers = Object.fromEntries(
        fields.map(([, field, value]) => [field!.toLowerCase(), value!.trim()]),
      );
      new Webhook(secret).verify(body, headers);
      const { succeeded, seconds } = await recorded(target);
      expectEqual('rows', [succeeded, await attempts(target)], [number, number]);
      return { units: number, seconds };
    },
  };
}

/** Fills emptied tables with deliveries that become visible at once, then analyzes and checkpoints them. */
async function fill({ environment }: RowContext, target: DeliveryTarget, count: number): Promise<void> {
  const { pool, schema, endpoints, secrets } = target;
  await pool.query(`truncate ${schema}.deliveries, ${schema}.attempts`);
  const client = await pool.connect();
  try {
    await client.query('begin');
    for (const rows of deliveriesTo(endpoints, count, secrets)) {
      const names = Object.keys(rows[0]!).join();
      await client.query(
        `insert into ${schema}.deliveries (${names})
         select ${names} from jsonb_populate_recordset(null::${schema}.deliveries, $1)`,
        [JSON.stringify(rows)],
      );
    }
    await client.query(`analyze ${schema}.deliveries`);
    await environment.checkpoint();
    await client.query('commit');
  } finally {
    client.release();
  }
}

const attempts = ({ pool, schema }: DeliveryTarget): Promise<number> => count(pool, `${schema}.attempts`);

/** Counts successes of a first attempt, and the seconds from the first POST until the last record. */
async function recorded({ pool, schema }: DeliveryTarget): Promise<{ succeeded: number; seconds: number }> {
  const { rows } = await pool.query<{ succeeded: number; seconds: number }>(
    `select count(*)::int as succeeded, extract(epoch from max(finished_at) - min(started_at))::float8 as seconds
     from ${schema}.deliveries join ${schema}.attempts using (delivery_id)
     where outcome = 'succeeded' and http_status = 204 and state = 'succeeded' and attempts = 1`,
  );
  return rows[0]!;
}
