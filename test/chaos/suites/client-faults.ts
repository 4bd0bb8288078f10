import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Disburse, DisburseError, NotFoundError } from '../../../packages/sdk/src/index.js';
import { requiredPython } from '../../support/programs/python.js';
import { checkBooks } from '../support/books.js';
import { FaultyProxy } from '../support/client/faulty-proxy.js';
import { createPayee, randomHash } from '../../support/payouts/payout-calls.js';
import { Shared } from '../support/shared.js';
import { chooseSeed, type Suite } from '../support/suite.js';
import { Tally } from '../support/verdict.js';

const CALLER = fileURLToPath(new URL('../support/client/caller.py', import.meta.url));
const AT_ONCE = 64;
const ABSENT = '00000000-0000-4000-8000-000000000000';

/**
 * Injects `--count` faults between a client (`--client typescript|python`) and the service. They are 429, 503
 * and 500, connections cut before or within the response, late responses and duplicated requests. Every call
 * ends with the right result or error, and every payout is reported once.
 */
export const clientFaults: Suite = async (options) => {
  const { count, verdict, say, client = 'typescript' } = options;
  const seed = chooseSeed(options);
  await Shared.run(async (shared) => {
    const service = await shared.service('service');
    const proxy = await shared.ends.start(FaultyProxy.start(service.baseUrl, seed));
    const { id: userId } = await createPayee(service.client);
    const tally = new Tally();
    const wrong: string[] = [];
    const ended = ({ outcome = 'failed', error }: Ended): void => {
      tally.add(outcome);
      if (error !== undefined) wrong.push(error);
    };
    const caller: Caller = { baseUrl: proxy.url, ...service.merchant, userId };
    const isOver = (): boolean => proxy.faults >= count;
    await (client === 'python' ? callInPython : callInTypeScript)(caller, ended, isOver);
    say(`calls of ${client}: ${tally.toString()}`);
    say(`faults ${proxy.faults}: ${proxy.tally.toString()}`);
    verdict.none('a call ended with a wrong result or error', wrong);
    const { rows } = await shared.pool.query<{ times: number }>(
      `select count(*)::int as times from event_store.events where type = 'payout.reported.v1' group by stream`,
    );
    verdict.equal(rows.length, tally.of('reported'), 'as many payouts as reports that succeeded');
    for (const kind of proxy.kinds) verdict.expect(proxy.tally.of(kind) > 0, `the fault ${kind} happened`);
    say(`audit ${await checkBooks(shared, verdict)}`);
  });
};

interface Caller {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly privateKey: string;
  readonly userId: string;
}

interface Ended {
  readonly outcome?: string;
  readonly error?: string;
}

type Calls = (caller: Caller, ended: (call: Ended) => void, isOver: () => boolean) => Promise<void>;

const callInTypeScript: Calls = async ({ userId, ...credentials }, ended, isOver) => {
  const client = new Disburse({ ...credentials, attempts: 12, timeoutMs: 2000 });
  let calls = 0;
  const worker = async (): Promise<void> => {
    while (!isOver()) {
      const n = (calls += 1);
      await callOnce(client, userId, n).then(
        (outcome) => ended({ outcome }),
        (error: unknown) =>
          ended({ error: `call ${n}: ${error instanceof DisburseError ? error.message : String(error)}` }),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
};

/** Starts caller.py, which calls until its input ends. */
const callInPython: Calls = async (caller, ended, isOver) => {
  const { path, env } = requiredPython();
  const child = spawn(path, [CALLER], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  child.stdin.write(`${JSON.stringify(caller)}\n`);
  for await (const line of createInterface({ input: child.stdout })) {
    ended(JSON.parse(line) as Ended);
    if (isOver()) child.stdin.end();
  }
  const [code] = await exited;
  if (code !== 0) throw new Error(`the caller ended with ${code}`);
};

/** Calls once and compares the outcome with a service without faults. Rejects when they differ. */
async function callOnce(client: Disburse, userId: string, n: number): Promise<string> {
  const transaction_hash = randomHash();
  switch (n % 4) {
    case 0:
      await client.users.get(ABSENT).then(
        () => Promise.reject(new Error('a user that is not there was found')),
        (error: unknown) => (error instanceof NotFoundError ? undefined : Promise.reject(error)),
      );
      return 'not found';
    case 1:
      if ((await client.users.get(userId)).data.user.id !== userId) throw new Error('another user');
      return 'read';
    default: {
      const payout = { amount: `${1 + (n % 7)}.5`, transaction_hash, currency_code: 'USDC' as const };
      const { data, status } = await client.payouts.report({ user_id: userId, payout });
      if (
        status !== 201 ||
        data.payout.transaction_hash !== transaction_hash ||
        data.payout.amount !== payout.amount
      )
        throw new Error(`another payout: ${JSON.stringify(data)}`);
      return 'reported';
    }
  }
}
