import { compare, type ComparisonResult } from '../harness/compare.js';
import { alternate, type Variant } from '../harness/measure.js';
import { row, expectEqual, type RowContext } from '../harness/row.js';
import { eventBatch } from '../seed/tracked-events.js';
import { startBare } from '../support/bare.js';
import { load } from '../support/load.js';
import { startService } from '../support/service.js';
import { signed, type Credentials } from '../support/sign.js';

const PATH = '/merchants/v1/events';
/** Items of a batch, the number of batches that take about as long as one of a thousand, and the goal. */
const SIZES = [
  { items: 1000, batches: 1, atLeast: 0.6 },
  { items: 100, batches: 4, atLeast: 0.6 },
  { items: 10, batches: 12, atLeast: 0.7 },
] as const;
/** Each body is sent many times, because nothing here reads earlier ones. */
const BODIES = 32;

interface Target {
  readonly name: string;
  readonly baseUrl: string;
  readonly database: string;
  readonly table: string;
}

interface Sent {
  batches: number;
  items: number;
  bytes: number;
}

/** POST events through the whole service, compared with a minimal server. No batch is processed. */
export const eventsAcceptRow = row(
  'events-accept',
  'POST /merchants/v1/events until the batch is on disk; the process is an API alone, batches wait for a worker',
  async (context) => {
    const { environment, options } = context;
    context.progress('starting the service');
    // A worker registers merchants, then ends.
    const whole = await startService(environment, { name: 'events' });
    expectEqual('a read', (await whole.client.get('/merchants/v1/payouts')).status, 200);
    await whole.stop();
    const service = await startService(environment, { name: 'events', env: { ROLES: 'api' } });
    const bare = await startBare(environment, 'events-server', {
      database: 'accepted',
      who: service.merchant,
    });
    const targets: Target[] = [
      { name: 'service', baseUrl: service.baseUrl, database: 'events', table: 'tracking.batches' },
      { name: 'bare', baseUrl: bare.baseUrl, database: 'accepted', table: 'bare_batches' },
    ];
    const totals = new Map(
      targets.map(({ name }): [string, Sent] => [name, { batches: 0, items: 0, bytes: 0 }]),
    );
    const comparisons: ComparisonResult[] = [];
    const notes: string[] = [];
    for (const { items, batches, atLeast } of SIZES) {
      const count = options.batches * batches;
      const bodies = Array.from({ length: BODIES }, () => eventBatch(items));
      const variants = targets.map((target) =>
        variantOf(context, target, service.merchant, {
          bodies,
          items,
          count,
          total: totals.get(target.name)!,
        }),
      );
      const progress = (text: string): void => context.progress(`${items} items, ${text}`);
      const samples = await alternate(variants, options.rounds, progress);
      comparisons.push(
        compare(samples, {
          label: `batches of ${items}, compared with bare Fastify: signature, JSON.parse, check by hand, one row`,
          subject: 'service',
          reference: 'bare',
          goal: { atLeast },
        }),
      );
      notes.push(
        `${items} items: ${Buffer.byteLength(bodies[0]!)} bytes, ${count} batches per variant and round`,
      );
    }
    return { comparisons, notes: [`${options.connections} connections`, ...notes] };
  },
);

function variantOf(
  context: RowContext,
  target: Target,
  who: Credentials,
  work: {
    readonly bodies: readonly string[];
    readonly items: number;
    readonly count: number;
    readonly total: Sent;
  },
): Variant {
  const { bodies, items, count, total } = work;
  return {
    name: target.name,
    run: async () => {
      const signedBodies = bodies.map((body) => signed(who, 'POST', PATH, body));
      const requests = Array.from({ length: count }, (_, i) => signedBodies[i % signedBodies.length]!);
      await context.environment.checkpoint();
      const seconds = await load(target.baseUrl, requests, context.options.connections, 202);
      total.batches += count;
      total.items += count * items;
      total.bytes += requests.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
      expectEqual('batches, items and bytes on disk', await onDisk(context, target), total);
      return { units: count, seconds };
    },
  };
}

async function onDisk({ environment }: RowContext, target: Target): Promise<Sent> {
  const pool = await environment.pool(target.database);
  const { rows } = await pool.query<{ batches: string; items: string; bytes: string }>(
    `select count(*) as batches, sum(item_count) as items, sum(octet_length(body)) as bytes from ${target.table}`,
  );
  const [{ batches, items, bytes }] = rows as [(typeof rows)[number]];
  return { batches: Number(batches), items: Number(items), bytes: Number(bytes) };
}
