import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { checkBooks } from '../support/books.js';
import { createPayee, randomHash } from '../../support/payouts/payout-calls.js';
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

/** Further orders than kills, because a late kill may hit the next order. */
const SPARE = 2;
/** The upper bound of the delay before a kill, so that kills hit before, during and after the response. */
const KILL_WITHIN_MS = 25;

/**
 * Kills a merchant's backend that uses the client (`--client typescript|python`) `--count` times. Each kill
 * comes after a sent report and before its recorded response. The backend restarts with the same list, and
 * every order is paid once.
 */
export const clientKills: Suite = async ({ count, verdict, say, client = 'typescript' }) => {
  const backend = backendOf(client);
  await Shared.run(async (shared) => {
    const service = await shared.service('service');
    const { id: userId } = await createPayee(service.client);
    const orders = Array.from({ length: Math.ceil(count * SPARE) + 10 }, (_, n) => ({
      id: `order ${n}`,
      transaction_hash: randomHash(),
      amount: `${1 + (n % 9)}.25`,
    }));
    const { baseUrl, merchant, dir } = service;
    const facts = { baseUrl, ...merchant, userId, orders, doneFile: join(dir, 'orders-done') };
    const factsFile = join(dir, 'orders.json');
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
    verdict.none('an order is not paid', orders, ({ transaction_hash }) => !times.has(transaction_hash));
    verdict.none('an order is paid twice', rows, (row) => row.times > 1);
    verdict.equal(rows.length, orders.length, 'as many payouts as orders');
    say(`audit ${await checkBooks(shared, verdict)}`);
  });
};

/** Kills the backend after it sent an order not in `killed`. Returns true once all orders are paid. */
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
