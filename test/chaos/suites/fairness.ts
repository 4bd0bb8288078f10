import { setTimeout as sleep } from 'node:timers/promises';
import { Shared } from '../support/shared.js';
import { percentile, type Suite, type SuiteOptions } from '../support/suite.js';
import { expectedDeliveries, type Expected } from '../support/webhooks/expected.js';
import type { Behavior, Receivers } from '../support/webhooks/receivers.js';
import { DeliveryHarness } from '../support/webhooks/delivery-harness.js';

/** One endpoint in ten sends no response, or an endless one. */
const SLOW_OF = 10;
const CAP = 16;
const P99_MS = 100;
/** Deliveries to prompt endpoints arrive within this time after the load. */
const REST_MS = 10_000;

/**
 * A steady load on many endpoints, of which one in ten hangs for the whole timeout. All others get all of
 * their deliveries, 99 % of them within P99_MS of their due time. No endpoint gets more than its cap at once.
 */
export const fairness: Suite = async (options) => {
  for (let round = 1; round <= options.count; round += 1)
    await Shared.run((shared) => playRound(shared, options));
};

async function playRound(shared: Shared, options: SuiteOptions): Promise<void> {
  const { say, verdict, sizes = {}, queue = 'postgres' } = options;
  const { endpoints = 100, rate = 200, seconds = 60, workers: processes = 1 } = sizes;
  const harness = await DeliveryHarness.open(shared, {
    endpoints,
    queue,
    behaviorOf,
    env: { WEBHOOK_TIMEOUT_MS: String(sizes['timeout-ms'] ?? 30_000) },
  });
  const workers = Array.from({ length: processes }, (_, n) => harness.worker(`worker-${n + 1}`));
  await Promise.all(workers.map((each) => each.start()));
  const offered = await offer(harness, rate, seconds);
  say(`${offered} deliveries offered in ${seconds} s, to ${endpoints} endpoints of which a tenth hangs`);
  const expected = await expectedDeliveries(harness.pool, harness.merchants.hooks);
  const prompt = new Map([...expected].filter(([, { hook }]) => hook.behavior === 'prompt'));
  const { receivers } = harness;
  await verdict.eventually(
    'all deliveries to prompt endpoints',
    async () => receivers.accepted >= prompt.size,
    REST_MS,
  );
  await sleep(500);
  const arrivedAs = (id: string) => receivers.arrived.get(id) ?? { accepted: 0, at: [] };
  const ids = [...prompt.keys()];
  verdict.none('a delivery to a prompt endpoint was not accepted', ids, (id) => arrivedAs(id).accepted === 0);
  verdict.none('a delivery to a prompt endpoint came twice', ids, (id) => arrivedAs(id).at.length > 1);
  verdict.none('a request that no delivery explains', receivers.faults);
  say(`${prompt.size} deliveries to prompt endpoints`);
  await checkLateness(harness, prompt, receivers, options);
  verdict.expect(
    receivers.maxOpen <= CAP * processes,
    'no endpoint has more than its cap open at once',
    receivers.maxOpen,
  );
  for (const each of workers) verdict.equal(each.exited(), null, 'the worker lives');
  say(`SIGTERM ended the workers after ${await harness.terminate(workers, verdict)}, nothing held`);
}

function behaviorOf(place: number): Behavior {
  if (place % SLOW_OF !== 0) return 'prompt';
  return (['hangs', 'drips'] as const)[(place / SLOW_OF) % 2]!;
}

/** Publishes events at a fixed rate, round robin over the merchants. Returns the number of deliveries. */
async function offer({ merchants }: DeliveryHarness, rate: number, forSeconds: number): Promise<number> {
  const began = performance.now();
  let offered = 0;
  for (let n = 0; offered < rate * forSeconds; n += 1) {
    offered += await merchants.publish(merchants.ids[n % merchants.ids.length]!);
    const ahead = (offered / rate) * 1000 - (performance.now() - began);
    if (ahead > 0) await sleep(ahead);
  }
  return offered;
}

/** Verifies the delay from due to sent (table) and from due to arrived (receivers on the same clock). */
async function checkLateness(
  harness: DeliveryHarness,
  prompt: ReadonlyMap<string, Expected>,
  { arrived }: Receivers,
  { say, verdict, sizes = {} }: SuiteOptions,
): Promise<void> {
  const bound = sizes['p99-ms'] ?? P99_MS;
  const { rows } = await harness.pool.query<{ delivery_id: string; due: number; sent: number }>(
    `select delivery_id, extract(epoch from due_at)::float8 * 1000 as due,
       extract(epoch from started_at)::float8 * 1000 as sent
     from webhooks.deliveries join webhooks.attempts using (delivery_id) where attempt = 1 and state = 'succeeded'`,
  );
  const recorded = rows.filter(({ delivery_id }) => prompt.has(delivery_id));
  verdict.equal(
    recorded.length,
    prompt.size,
    'deliveries to prompt endpoints recorded as sent and succeeded',
  );
  const sent = recorded.map((row) => row.sent - row.due);
  const came = recorded.map((row) => (arrived.get(row.delivery_id)?.at[0] ?? Infinity) - row.due);
  say(`from due to sent:    ${describe(sent)}`);
  say(`from due to arrived: ${describe(came)}`);
  verdict.expect(percentile(sent, 0.99) < bound, `p99 from due to sent is under ${bound} ms`, describe(sent));
  // The bound is larger because it includes the receivers' own delay.
  const later = 2 * bound;
  verdict.expect(
    percentile(came, 0.99) < later,
    `p99 from due to arrived is under ${later} ms`,
    describe(came),
  );
  // Send times are stored in whole milliseconds.
  const early = recorded.filter((row, n) => came[n]! < row.sent - row.due - 2);
  verdict.none('a delivery arrived before it was sent', early);
}

function describe(ms: readonly number[]): string {
  const of = (share: number): string => `${percentile(ms, share).toFixed(1)} ms`;
  return `p50 ${of(0.5)}, p99 ${of(0.99)}, p99.9 ${of(0.999)}, max ${of(1)}`;
}
