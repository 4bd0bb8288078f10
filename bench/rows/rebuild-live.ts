import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { median } from '../harness/compare.js';
import type { Checks } from '../harness/checks.js';
import type { Row, RowContext, RowOutcome } from '../harness/row.js';
import { LEDGER, ledger, type Ledger } from '../seed/ledger.js';
import { startService, type Service } from '../support/service.js';
import { call, signed, type Credentials } from '../support/sign.js';

const CLI = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));
const NAME = 'payouts.views';
/** Clients, each with a user of its own, and what each waits between two turns: a service at work, not at its end. */
const CLIENTS = 6;
const THINK_MS = 60;
const PERCENTILE = 0.99;
const GOAL = 1.5;
/** At least so long, each. */
const WINDOW_MS = 8000;

/** Rebuilds of the read models of payouts, beside reads and writes that must not notice. */
export const rebuildLiveRow: Row = {
  name: 'rebuild-live',
  title: 'requests while the read models of payouts are rebuilt and swapped, beside requests without',
  run: runRebuildLive,
};

async function runRebuildLive(context: RowContext): Promise<RowOutcome> {
  const { environment, options, checks } = context;
  const made = await ledger(context);
  const service = await startService(environment, { name: LEDGER });
  const users = await Promise.all(Array.from({ length: CLIENTS }, (_, n) => newUser(service, n)));
  const secrets = join(environment.folder(LEDGER), 'secrets.json');
  const rebuild = rebuilder(await environment.database(LEDGER), secrets);
  const clients = users.map((user) => new Client(service.baseUrl, made, user, checks));
  const ratios: number[] = [];
  const pairs: string[] = [];
  let rebuilds = 0;
  try {
    await during(clients, () => sleep(3000));
    for (let round = 0; round < options.rounds; round += 1) {
      const quiet = async (): Promise<number[]> => {
        context.progress(`round ${round + 1} of ${options.rounds}: without`);
        return during(clients, () => sleep(WINDOW_MS));
      };
      const busy = async (): Promise<number[]> => {
        context.progress(`round ${round + 1} of ${options.rounds}: beside rebuilds`);
        return during(clients, async () => {
          for (const until = performance.now() + WINDOW_MS; performance.now() < until; rebuilds += 1)
            checks.equal('rows that a rebuild found different', await rebuild(), 0);
        });
      };
      // Whoever comes first changes, so that a machine that slows down slows both.
      const [without, beside] =
        round % 2 === 0
          ? [await quiet(), await busy()]
          : await busy().then(async (first) => [await quiet(), first] as const);
      const [p99, p99Beside] = [percentile(without!), percentile(beside!)];
      ratios.push(p99Beside / p99);
      pairs.push(`${p99Beside.toFixed(0)} / ${p99.toFixed(0)} ms of ${beside!.length} / ${without!.length}`);
    }
    for (const client of clients) await client.checkAll();
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
  const middle = median(ratios);
  return {
    comparisons: [
      {
        label: 'p99 of requests beside rebuilds, and without',
        ...{ kind: 'time', ratios, median: middle, min: Math.min(...ratios), max: Math.max(...ratios) },
        ...{ goal: { atMost: GOAL }, reached: middle <= GOAL },
      },
    ],
    notes: [
      `${made.payouts} payouts; ${rebuilds} rebuilds swapped; ${clients.reduce((sum, { turns }) => sum + turns, 0)} turns of report, payout, list and balance`,
      `p99 beside / without: ${pairs.join('; ')}`,
    ],
  };
}

/** Who is onboarding is paid too. */
async function newUser({ baseUrl, merchant }: Service, n: number): Promise<string> {
  const body = { phone_number: `+4915113${100_000 + n}` };
  const made = (await call(baseUrl, merchant, 'POST', '/merchants/v1/users', 201, body)) as {
    readonly user: { readonly id: string };
  };
  return made.user.id;
}

/** A rebuild as an operator runs it; the number of rows that it found to differ. */
function rebuilder(databaseUrl: string, secretsFile: string): () => Promise<number> {
  const { master_key: masterKey } = JSON.parse(readFileSync(secretsFile, 'utf8')) as { master_key: string };
  const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, MASTER_KEY: masterKey };
  return () =>
    new Promise((resolve, reject) => {
      execFile(process.execPath, [CLI, 'rebuild', '--json', NAME], { env }, (error, printed, errors) => {
        if (error !== null) return reject(new Error(`${error.message}\n${errors}`));
        const { compared } = JSON.parse(printed.trim().split('\n').at(-1)!) as {
          compared: { different: number }[] | null;
        };
        resolve((compared ?? [{ different: NaN }]).reduce((sum, { different }) => sum + different, 0));
      });
    });
}

/** Milliseconds of every request that the clients made during `work`. */
async function during(clients: readonly Client[], work: () => Promise<unknown>): Promise<number[]> {
  const stop = new AbortController();
  const running = clients.map((client) => client.run(stop.signal));
  await work().finally(() => stop.abort());
  return (await Promise.all(running)).flat();
}

function percentile(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * PERCENTILE))]!;
}

/** One merchant's program for one user: it knows what it reported, and must read all of it, always. */
class Client {
  turns = 0;
  private readonly reported: string[] = [];
  private readonly pool: Pool;
  private readonly who: Credentials;

  constructor(
    baseUrl: string,
    { merchant }: Ledger,
    private readonly userId: string,
    private readonly checks: Checks,
  ) {
    this.who = merchant;
    this.pool = new Pool(baseUrl, { connections: 1 });
  }

  async run(signal: AbortSignal): Promise<number[]> {
    const tookMs: number[] = [];
    while (!signal.aborted) {
      await this.turn(tookMs);
      await sleep(THINK_MS);
    }
    return tookMs;
  }

  /** Reports, then reads what it reported: by its id, as the first of the list, and in the balance. */
  private async turn(tookMs: number[]): Promise<void> {
    const payout = { amount: '1', transaction_hash: `0x${randomUUID().replaceAll('-', '').repeat(2)}` };
    const body = { user_id: this.userId, payout };
    const { payout: made } = await this.ask<{ payout: { id: string } }>(
      201,
      tookMs,
      '/merchants/v1/payouts/report',
      body,
    );
    this.reported.push(made.id);
    const found = await this.ask<{ payout: { id: string } }>(200, tookMs, `/merchants/v1/payouts/${made.id}`);
    const list = await this.ask<{ payouts: { id: string }[] }>(
      200,
      tookMs,
      `/merchants/v1/payouts?user_id=${this.userId}&page_size=20`,
    );
    const { balance } = await this.ask<{ balance: { pending: string } }>(
      200,
      tookMs,
      `/merchants/v1/users/${this.userId}/balance`,
    );
    const newest = this.reported.slice(-20).reverse();
    this.expect('a payout read by its id', found.payout?.id, made.id);
    this.expect('a list', list.payouts?.map(({ id }) => id).sort(), newest.sort());
    this.expect('a balance', balance?.pending, String(this.reported.length));
    this.turns += 1;
  }

  /** At the end everything is there, page by page. */
  async checkAll(): Promise<void> {
    const ids: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const path = `/merchants/v1/payouts?user_id=${this.userId}&page_size=1000${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const page: { payouts: { id: string }[]; next_cursor: string | null } = await this.ask(200, [], path);
      ids.push(...page.payouts.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    this.checks.equal('payouts listed at the end', ids.sort(), [...this.reported].sort());
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  /** Only what is wrong is noted: there are thousands of reads. */
  private expect(what: string, actual: unknown, expected: unknown): void {
    if (JSON.stringify(actual) !== JSON.stringify(expected)) this.checks.equal(what, actual, expected);
  }

  private async ask<T>(status: number, tookMs: number[], path: string, body?: object): Promise<T> {
    const method = body === undefined ? 'GET' : 'POST';
    const text = body === undefined ? '' : JSON.stringify(body);
    const { headers } = signed(this.who, method, path, text);
    const began = performance.now();
    const response = await this.pool.request({
      ...{ method, path, headers: { ...headers } },
      ...(text === '' ? {} : { body: text }),
    });
    const received = await response.body.text();
    tookMs.push(performance.now() - began);
    this.expect(
      `${method} ${path.split('?')[0]!.replaceAll(/[0-9a-f-]{36}/g, ':id')}: status`,
      response.statusCode,
      status,
    );
    return JSON.parse(received) as T;
  }
}
