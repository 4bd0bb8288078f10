import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../bench/support/wait.js';
import { percentile, type Suite, type SuiteOptions } from '../support/suite.js';
import { expectedDeliveries, type Expected } from '../support/webhooks/expected.js';
import type { Manner } from '../support/webhooks/receiver-protocol.js';
import type { AllSeen } from '../support/webhooks/receivers.js';
import { Stage } from '../support/webhooks/stage.js';
import type { Worker } from '../support/webhooks/worker.js';

/** One endpoint in ten is slow: by turns it never responds, never ends its response, or has a name that never resolves. */
const SLOW_OF = 10;
/** Deliveries to one endpoint at once, from one process. */
const CAP = 16;
const P99_MS = 100;
/** What a worker has in flight when SIGTERM comes is given back after ten seconds. */
const EXIT_MS = 35_000;
/** After the load: what goes to prompt endpoints is there within this time. */
const REST_MS = 10_000;

/**
 * A steady load on many endpoints of which one in ten hangs for the whole time-out. All others get all of their
 * deliveries, 99 % of them within {@link P99_MS} from due to sent, and no endpoint gets more than its cap at once.
 */
export const fairness: Suite = async (options) => {
  for (let round = 1; round <= options.count; round += 1) await playRound(options);
};

async function playRound(options: SuiteOptions): Promise<void> {
  const { say, verdict, sizes = {}, queue = 'postgres' } = options;
  const { endpoints = 100, rate = 200, seconds = 60, workers: processes = 1 } = sizes;
  const timeoutMs = sizes['timeout-ms'] ?? 30_000;
  const stage = await Stage.open({
    endpoints,
    queue,
    mannerOf,
    env: { WEBHOOK_TIMEOUT_MS: String(timeoutMs) },
  });
  const workers = Array.from({ length: processes }, (_, n) => stage.worker(`worker-${n + 1}`));
  try {
    await Promise.all(workers.map((each) => each.spawn()));
    await Promise.all(workers.map((each) => each.ready()));
    const memory = new Memory(workers);
    const offered = await offer(stage, rate, seconds);
    say(`${offered} deliveries offered in ${seconds} s, to ${endpoints} endpoints of which a tenth hangs`);
    if (stage.dns === null) say('no silent DNS server without root: endpoints with such names are left out');
    const expected = await expectedDeliveries(stage.pool, stage.merchants.hooks);
    const prompt = new Map([...expected].filter(([, { hook }]) => hook.manner === 'prompt'));
    await eventually(
      'all deliveries to prompt endpoints',
      async () => (await stage.receivers.accepted()) >= prompt.size,
      REST_MS,
    ).catch((error: Error) => verdict.expect(false, error.message));
    // An attempt is recorded a moment after its response.
    await sleep(500);
    const seen = await stage.receivers.seen();
    const missing = [...prompt.keys()].filter((id) => !((seen.arrived.get(id)?.accepted ?? 0) > 0));
    verdict.none(missing, 'a delivery to a prompt endpoint was not accepted');
    const repeated = [...prompt.keys()].filter((id) => (seen.arrived.get(id)?.at.length ?? 0) > 1);
    verdict.none(repeated, 'a delivery to a prompt endpoint came twice');
    verdict.none(seen.faults, 'a request that no delivery explains');
    say(`${prompt.size - missing.length} of ${prompt.size} to prompt endpoints delivered`);
    await checkLateness(stage, prompt, seen, options);
    await checkSlow(stage, seen, processes, options);
    memory.stop();
    say(`memory of a worker: ${memory.first} MiB at first, ${memory.most} MiB at most`);
    for (const each of workers) verdict.equal(each.exited, null, 'the worker lives');
    await terminate(stage, workers, options);
  } finally {
    await stage.close();
  }
}

function mannerOf(place: number, silentNames: boolean): Manner {
  if (place % SLOW_OF !== 0) return 'prompt';
  const manners: readonly Manner[] = silentNames ? ['hangs', 'drips', 'unresolved'] : ['hangs', 'drips'];
  return manners[(place / SLOW_OF) % manners.length]!;
}

/** Events at even distances, the merchants by turns. How many deliveries they make. */
async function offer({ merchants }: Stage, rate: number, forSeconds: number): Promise<number> {
  const began = performance.now();
  let offered = 0;
  for (let turn = 0; offered < rate * forSeconds; turn += 1) {
    const made = await merchants.publish(merchants.ids[turn % merchants.ids.length]!);
    offered += made;
    const ahead = (offered / rate) * 1000 - (performance.now() - began);
    if (ahead > 0) await sleep(ahead);
  }
  return offered;
}

/** From due to sent by the table, and from due to arrived by the receivers, which read the same clock. */
async function checkLateness(
  stage: Stage,
  prompt: ReadonlyMap<string, Expected>,
  { arrived }: AllSeen,
  { say, verdict, sizes = {} }: SuiteOptions,
): Promise<void> {
  const bound = sizes['p99-ms'] ?? P99_MS;
  const { rows } = await stage.pool.query<{ delivery_id: string; due: number; sent: number }>(
    `select delivery_id, extract(epoch from due_at)::float8 * 1000 as due,
       extract(epoch from started_at)::float8 * 1000 as sent
     from webhooks.deliveries join webhooks.attempts using (delivery_id) where attempt = 1 and state = 'succeeded'`,
  );
  const judged = rows.filter(({ delivery_id }) => prompt.has(delivery_id));
  verdict.equal(judged.length, prompt.size, 'deliveries to prompt endpoints recorded as sent and succeeded');
  const sent = judged.map((row) => row.sent - row.due);
  const came = judged.map((row) => (arrived.get(row.delivery_id)?.at[0] ?? Infinity) - row.due);
  say(`from due to sent:    ${describe(sent)}`);
  say(`from due to arrived: ${describe(came)}`);
  verdict.expect(percentile(sent, 0.99) < bound, `p99 from due to sent is under ${bound} ms`, describe(sent));
  // The receivers' own delay is in it, so that it proves less and is bounded more generously.
  const later = 2 * bound;
  verdict.expect(
    percentile(came, 0.99) < later,
    `p99 from due to arrived is under ${later} ms`,
    describe(came),
  );
  // Moments of sending are kept in whole milliseconds.
  const early = judged.filter((row, n) => came[n]! < row.sent - row.due - 2);
  verdict.none(early, 'a delivery arrived before it was sent');
}

function describe(ms: readonly number[]): string {
  const of = (share: number): string => `${percentile(ms, share).toFixed(1)} ms`;
  return `p50 ${of(0.5)}, p99 ${of(0.99)}, p99.9 ${of(0.999)}, max ${of(1)}`;
}

async function checkSlow(
  stage: Stage,
  { mostOpen }: AllSeen,
  processes: number,
  { say, verdict }: SuiteOptions,
): Promise<void> {
  const most = Math.max(0, ...mostOpen.values());
  verdict.expect(most <= CAP * processes, 'no endpoint has more than its cap open at once', most);
  const { rows } = await stage.pool.query<{ attempts: number; held: number; waiting: number }>(
    `select (select count(*)::int from webhooks.attempts where outcome = 'retry') as attempts,
       count(leased_by)::int as held, count(*) filter (where leased_by is null and due_at <= now())::int as waiting
     from webhooks.deliveries where state = 'pending'`,
  );
  const { attempts, held, waiting } = rows[0]!;
  say(
    `slow endpoints: at most ${most} open at one, ${attempts} timed out, ${held} held, ${waiting} due and waiting`,
  );
}

/** SIGTERM while deliveries hang: the processes end in time, and what they held is free for others. */
async function terminate(
  { pool }: Stage,
  workers: readonly Worker[],
  { say, verdict }: SuiteOptions,
): Promise<void> {
  const began = performance.now();
  const ends = await Promise.all(workers.map((each) => each.stop()));
  const tookMs = performance.now() - began;
  verdict.expect(
    ends.every((end) => end === 'exit code 0'),
    'SIGTERM ends a worker',
    ends,
  );
  verdict.expect(tookMs < EXIT_MS, 'SIGTERM ends a worker within 35 s', tookMs);
  const { rows } = await pool.query<{ held: number }>(
    'select count(leased_by)::int as held from webhooks.deliveries',
  );
  verdict.equal(rows[0]!.held, 0, 'deliveries held after SIGTERM');
  say(`SIGTERM: ${ends.join(', ')} after ${(tookMs / 1000).toFixed(1)} s, nothing held`);
}

/** Resident memory of the largest worker, looked at twice a second. */
class Memory {
  readonly first: number;
  most: number;
  private readonly timer: NodeJS.Timeout;

  constructor(workers: readonly Worker[]) {
    const now = (): number => Math.max(...workers.map((each) => each.residentMiB));
    this.first = this.most = now();
    this.timer = setInterval(() => (this.most = Math.max(this.most, now())), 500);
  }

  stop(): void {
    clearInterval(this.timer);
  }
}
