import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { checkBooks } from '../support/books.js';
import { activePayee, randomHash } from '../support/payouts.js';
import { Shared } from '../support/shared.js';
import { requiredPython } from '../../support/programs/python.js';
import { between, type Client, type Suite } from '../support/suite.js';

function backendOf(client: Client): { readonly command: readonly string[]; readonly env: NodeJS.ProcessEnv } {
  const program = (name: string): string =>
    fileURLToPath(new URL(`../support/client/${name}`, import.meta.url));
  if (client === 'typescript')
    return { command: [process.execPath, program('backend.mjs')], env: process.env };
  const { path, env } = requiredPython();
  return { command: [path, program('backend.py')], env };
}

/** The number of orders beyond the kills: a late kill may hit the next order. */
const SPARE = 2;
/** The upper bound of the delay before a kill, so that kills hit before, during and after the response. */
const KILL_WITHIN_MS = 25;

/**
 * Kills a merchant's backend that uses the client (`--client typescript|python`) `--count` times, after it sent a
 * report and before it recorded the response. The backend starts again with the same list. Every order is paid once.
 */
export const clientKills: Suite = async ({ count, verdict, say, client = 'typescript' }) => {
  const backend = backendOf(client);
  const shared = await Shared.start();
  const folder = await mkdtemp(join(tmpdir(), 'disburse-backend-'));
  try {
    const service = await shared.service('service', { RATE_LIMIT_PER_MINUTE: '1000000' });
    const { id: userId } = await activePayee(service.baseUrl, service.merchant);
    const orders = Array.from({ length: Math.ceil(count * SPARE) + 10 }, (_, n) => ({
      id: `order ${n}`,
      transaction_hash: randomHash(),
      amount: `${1 + (n % 9)}.25`,
    }));
    const { baseUrl, merchant } = service;
    const facts = { baseUrl, ...merchant, userId, orders, doneFile: join(folder, 'done') };
    const factsFile = join(folder, 'facts.json');
    await writeFile(factsFile, JSON.stringify(facts));
    const killed = new Set<string>();
    let runs = 0;
    for (let complete = false; !complete; runs += 1)
      complete = await runBackend(backend, factsFile, killed, count);
    say(`killed ${killed.size} times in ${runs} runs`);
    verdict.equal(killed.size, count, 'as many kills as were to be');
    const { rows } = await shared.pool.query<{ hash: string; times: number }>(
      `select data::json->>'transaction_hash' as hash, count(*)::int as times from event_store.events
       where type = 'payout.reported.v1' group by 1`,
    );
    const times = new Map(rows.map((row) => [row.hash, row.times]));
    verdict.none(
      orders.filter(({ transaction_hash }) => !times.has(transaction_hash)),
      'an order is not paid',
    );
    verdict.none(
      rows.filter((row) => row.times > 1),
      'an order is paid twice',
    );
    verdict.equal(rows.length, orders.length, 'as many payouts as orders');
    say(`audit ${await checkBooks(shared, verdict)}`);
  } finally {
    await shared.close();
    await rm(folder, { recursive: true, force: true });
  }
};

/**
 * Kills the backend after it has sent an order that is not among the `killed` ones. Returns true once all orders are
 * paid.
 */
async function runBackend(
  { command: [program, ...args], env }: ReturnType<typeof backendOf>,
  factsFile: string,
  killed: Set<string>,
  kills: number,
): Promise<boolean> {
  const child = spawn(program!, [...args, factsFile], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  let complete = false;
  let isDoomed = false;
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'complete') complete = true;
    else if (!isDoomed && killed.size < kills && !killed.has(line)) {
      isDoomed = true;
      killed.add(line);
      void sleep(between(0, KILL_WITHIN_MS)).then(() => child.kill('SIGKILL'));
    }
  });
  const [code] = await exited;
  if (code !== null && code !== 0) throw new Error(`the backend ended with ${code}`);
  return complete && code === 0;
}
