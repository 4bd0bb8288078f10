import { randomInt, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { signed } from '../../../bench/support/sign.js';
import { runAudit } from '../support/audit.js';
import { Fuzzer } from '../support/fuzz/fuzzer.js';
import { makeWorld } from '../support/fuzz/world.js';
import { keyed, REPORT } from '../support/operations.js';
import { activePayee } from '../support/payees.js';
import { portOf } from '../support/shared.js';
import { Sandbox } from '../support/sandbox.js';
import { percentile, seconds, type Suite, type SuiteOptions } from '../support/suite.js';
import type { Verdict } from '../support/verdict.js';

const AT_ONCE = 48;
/** From then on memory is counted: by then the service has compiled and cached what it will need. */
const WARM_SHARE = 0.2;
const WORST_GROWTH_MIB = 256;
/** Of all requests, those that may lose their connection to a timeout or to an early response. */
const WORST_CUT_OFF = 0.002;
const HONEST_PAUSE_MS = 100;
/** Of a merchant who goes on in between, however busy the machine is. */
const HONEST_WORST_MS = 30_000;

/**
 * `--count` fuzzed requests to every operation of the service's own document, to paths that are none and to the widget:
 * signed ones with hostile contents, and broken HTTP. All of it follows from `--seed`; `--only N` sends the Nth alone.
 */
export const fuzz: Suite = async (options) => {
  const { count, verdict, say, sizes = {} } = options;
  const seed = sizes.seed ?? randomInt(1, 2 ** 31);
  say(`seed  ${seed}`);
  const sandbox = await Sandbox.create();
  try {
    sandbox.spawn();
    await sandbox.ready();
    const { baseUrl, merchant, file } = sandbox;
    const world = await makeWorld(baseUrl, merchant);
    const fuzzer = new Fuzzer(
      seed,
      { api: sandbox.port, widget: portOf({ baseUrl: file.widget_url }) },
      world,
    );
    const honest = new HonestMerchant(sandbox, verdict);
    honest.start();
    const began = performance.now();
    const memory = await run(
      fuzzer,
      sandbox,
      sizes.only === undefined ? [1, count] : [sizes.only, sizes.only],
      options,
    );
    const took = performance.now() - began;
    await honest.stop();
    await fuzzer.close();
    say(
      `sent  ${count} in ${seconds(took)}, ${Math.round(count / (took / 1000))}/s; ${fuzzer.tally.toString()}`,
    );
    say(`honest ${honest.summary()}`);
    say(`memory ${memory.warm} MiB when warm, ${memory.most} MiB at most`);
    for (const fault of fuzzer.faults) verdict.expect(false, fault);
    const most = count * WORST_CUT_OFF;
    verdict.expect(fuzzer.cutOff <= most, 'valid HTTP gets a response', `${fuzzer.cutOff} cut off`);
    verdict.equal(fuzzer.faults.length, 0, 'no response is wrong and no request hangs');
    verdict.expect(
      memory.most - memory.warm <= WORST_GROWTH_MIB,
      `memory grows by less than ${WORST_GROWTH_MIB} MiB`,
      memory,
    );
    verdict.equal(sandbox.exited(), null, 'the process lives');
    // It folds metadata with \u0000 too, which PostgreSQL does not read as jsonb (books.ts).
    say(`audit ${await runAudit(sandbox.databaseUrl, verdict)}`);
    verdict.equal(await sandbox.stop(), 'exit code 0', 'SIGTERM ends it');
  } finally {
    await sandbox.remove();
  }
};

/** Sends the requests from one number to another, {@link AT_ONCE} at a time. Resident memory in MiB. */
async function run(
  fuzzer: Fuzzer,
  sandbox: Sandbox,
  [first, last]: readonly [number, number],
  { say, verdict }: SuiteOptions,
): Promise<{ warm: number; most: number }> {
  let next = first;
  let running = true;
  const memory = { warm: 0, most: 0 };
  const worker = async (): Promise<void> => {
    while (next <= last && !fuzzer.gaveUp && sandbox.exited() === null) await fuzzer.send(next++);
  };
  const watch = async (): Promise<void> => {
    for (let second = 1; running && sandbox.exited() === null; second += 1) {
      const now = residentMib(sandbox.file.pid);
      const warm = next - first >= (last - first) * WARM_SHARE;
      if (!warm) memory.warm = Math.max(memory.warm, now);
      memory.most = Math.max(memory.most, now);
      if (second % 30 === 0) say(`      ${next - 1} sent, ${now} MiB, ${fuzzer.faults.length} faults`);
      await sleep(1000);
    }
  };
  const watching = watch();
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  running = false;
  await watching;
  if (sandbox.exited() !== null) verdict.expect(false, 'the process lives', sandbox.lastWords());
  return memory;
}

function residentMib(pid: number): number {
  return Math.round(
    Number(/VmRSS:\s+([0-9]+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024,
  );
}

/** Another merchant, from another address, who reports payouts and reads them all the while. */
class HonestMerchant {
  private readonly dispatcher = new Agent({ connect: { localAddress: '127.0.0.2' } });
  private readonly took: number[] = [];
  private stopped = false;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly sandbox: Sandbox,
    private readonly verdict: Verdict,
  ) {}

  start(): void {
    this.running = this.work().catch((error: Error) =>
      this.verdict.expect(false, 'an honest merchant goes on', error.stack),
    );
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
    await this.dispatcher.destroy();
    this.verdict.expect(this.took.length > 2, 'an honest merchant goes on', `${this.took.length} responses`);
    const worst = Math.max(...this.took);
    this.verdict.expect(worst < HONEST_WORST_MS, `within ${HONEST_WORST_MS} ms each`, `${worst} ms`);
  }

  summary(): string {
    const [half, most] = [0.5, 0.99].map((share) => percentile(this.took, share).toFixed(0));
    return `${this.took.length} responses, p50 ${half} ms, p99 ${most} ms`;
  }

  private async work(): Promise<void> {
    const { second_merchant: who } = this.sandbox.file;
    const merchant = { apiKey: who.api_key, privateKey: who.private_key };
    const payee = await activePayee(this.sandbox.baseUrl, merchant);
    while (!this.stopped) {
      const report = await this.ask(keyed(merchant, REPORT.path, REPORT.body(payee.id), randomUUID()), 201);
      const { payout } = JSON.parse(report) as { payout: { id: string } };
      const read = await this.ask(signed(merchant, 'GET', `/merchants/v1/payouts/${payout.id}`), 200);
      this.verdict.expect(read.includes(payout.id), 'an honest merchant reads what was reported', read);
      await this.ask(signed(merchant, 'GET', '/merchants/v1/payouts?page_size=10'), 200);
      await sleep(HONEST_PAUSE_MS);
    }
  }

  private async ask(call: ReturnType<typeof signed>, expected: number): Promise<string> {
    const began = performance.now();
    const { method, headers, body } = call;
    const options = { method, headers, ...(body === '' ? {} : { body }), dispatcher: this.dispatcher };
    const response = await request(this.sandbox.baseUrl + call.path, options);
    const text = await response.body.text();
    this.took.push(performance.now() - began);
    if (response.statusCode !== expected)
      throw new Error(`${method} ${call.path}: ${response.statusCode} ${text}`);
    return text;
  }
}
