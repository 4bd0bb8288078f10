import { randomUUID } from 'node:crypto';
import { keyed, CREATE_USER, REPORT, type Operation } from '../payouts.js';
import type { Group, TamperingHarness } from './tampering-harness.js';

const RESPONSES = 'event_store.responses';
const FORGED = '0x000000000000000000000000000000000000dead';

interface Stored {
  readonly operation: Operation;
  readonly body: string;
  readonly key: string;
  readonly text: string;
}

/** Stored responses of Idempotency-Keys are replaced by those of others, or invented. */
export const responses: Group = {
  percent: 7,
  atOnce: 30,
  async run(harness, random, count) {
    const { db, verdict } = harness;
    const stored = await storedOf(harness, Math.max(2, Math.ceil(count / 2)));
    const done: string[] = [];
    await db.query(`create temp table stored as table ${RESPONSES}`);
    while (done.length < count) {
      const [{ operation, key, text, ...request }, other] = [random.pick(stored), random.pick(stored)];
      if (key === other.key) continue;
      const how = random.pick(['body', 'status', 'copied', 'invented'] as const);
      const change = {
        body: `body = regexp_replace(body, '.(.)$', case when body ~ 'x.$' then 'y\\1' else 'x\\1' end)`,
        status: 'status = 200',
        copied: `body = (select body from ${RESPONSES} where key = '${other.key}')`,
        invented: `body = '{"user":{"id":"${FORGED}"}}'`,
      }[how];
      await db.query(`update ${RESPONSES} set ${change} where key = $1`, [key]);
      const again = await send(harness, operation, request.body, key);
      verdict.expect(
        again.status >= 500 && !again.text.includes(FORGED),
        `refused by the service: a stored response of ${operation.name}, ${how}`,
        again,
      );
      await db.query(
        `delete from ${RESPONSES} where key = '${key}';
         insert into ${RESPONSES} select * from stored where key = '${key}'`,
      );
      const last = await send(harness, operation, request.body, key);
      verdict.equal(last.text, text, 'the response once it is as it was stored');
      done.push(`response ${how}`);
    }
    await db.query('drop table stored');
    return done;
  },
};

async function storedOf(harness: TamperingHarness, requests: number): Promise<readonly Stored[]> {
  const { rows } = await harness.db.query<{ user_id: string }>(
    'select user_id from users.users where wallet is not null and merchant_id = $1',
    [harness.service.merchant.apiKey],
  );
  return Promise.all(
    Array.from({ length: requests }, async (_, number) => {
      const operation = number % 2 === 0 ? CREATE_USER : REPORT;
      const [body, key] = [operation.body(rows[0]!.user_id), randomUUID()];
      const { status, text } = await send(harness, operation, body, key);
      harness.verdict.equal(status, 201, `a ${operation.name} under a key`);
      return { operation, body, key, text };
    }),
  );
}

async function send(
  { service }: TamperingHarness,
  operation: Operation,
  body: string,
  key: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const { path, method, headers } = keyed(service.merchant, operation.path, body, key);
  const response = await fetch(service.baseUrl + path, { method, headers, body });
  return { status: response.status, text: await response.text() };
}
