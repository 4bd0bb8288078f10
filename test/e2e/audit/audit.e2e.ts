import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../../support/app.js';
import { invoke, type Run } from '../../support/programs/operator.js';
import {
  createPayee,
  createUser,
  getPayout,
  reported,
  settledPayout,
} from '../../support/payouts/payout-calls.js';
import { dropTestDatabase, testDatabaseUrl } from '../../support/postgres.js';

interface Report {
  readonly events: number;
  readonly payouts: object;
  readonly confirmed_minor: string;
  readonly differences: string[];
}

describe('npm run audit -- verify', () => {
  let app: TestApp;
  let received: string;
  let pending: string;
  let payee: string;

  beforeAll(async () => {
    app = await startTestApp();
    const user = await createPayee(app.merchant);
    payee = user.id;
    const { hash } = await app.chain.transfer(user.wallet, '2');
    const metadata = { custom_metadata: { '\u0000': ['"', '\\'] } };
    received = (
      await reported(app.merchant, payee, { amount: '2', transaction_hash: ` ${hash}`, ...metadata })
    ).id;
    await settledPayout(app.merchant, received);
    pending = (await reported(app.merchant, await createUser(app.merchant), { amount: '7.50' })).id;
    // A read waits until the read models show what was written before it.
    await getPayout(app.merchant, pending);
  });
  afterAll(() => app.close());

  const audit = (...args: string[]): Promise<Run> =>
    invoke('audit', { DATABASE_URL: app.config.databaseUrl! }, ...args, 'verify');
  /** What an audit says while `sql` has been done; `undo` afterwards. */
  const tampered = async (sql: string, undo: string): Promise<Report & Run> => {
    await app.database.query(sql);
    try {
      const run = await audit('--json');
      return { ...(JSON.parse(run.printed) as Report), ...run };
    } finally {
      await app.database.query(undo);
    }
  };

  it('finds sound books in order, and changes nothing', async () => {
    const rows = (): Promise<object[]> => app.database.query('select * from payouts.payouts order by id');
    const before = await rows();
    const { printed, exitCode } = await audit();
    expect(printed).toContain('in order: the read models equal the replay');
    expect(printed).toContain('1 pending, 1 received, 0 expired');
    expect(printed).toContain('2 USDC confirmed, 7.5 pending');
    expect(exitCode).not.toBe(2);
    expect(await rows()).toEqual(before);
  });

  it.each<[string, () => [sql: string, undo: string], () => string]>([
    [
      'a status',
      () => [
        `update payouts.payouts set status = 1 where id = '${pending}'`,
        `update payouts.payouts set status = 0 where id = '${pending}'`,
      ],
      () => `payouts.payouts ${pending}: status is received, the events say pending`,
    ],
    [
      'a response that is no JSON any more',
      () => [
        `update payouts.payouts set body = 'x' || body where id = '${received}'`,
        `update payouts.payouts set body = substr(body, 2) where id = '${received}'`,
      ],
      () => `payouts.payouts ${received}: body is `,
    ],
    [
      'a balance',
      () => [
        `update payouts.balances set confirmed = confirmed + 1 where user_id = '${payee}'`,
        `update payouts.balances set confirmed = confirmed - 1 where user_id = '${payee}'`,
      ],
      () => `user ${payee} has a balance that differs from the events`,
    ],
  ])('names %s that was tampered with, and exits with 2', async (_name, change, difference) => {
    const report = await tampered(...change());
    expect(report.exitCode).toBe(2);
    expect(report.differences).toContainEqual(expect.stringContaining(difference()));
    expect((await audit()).exitCode).not.toBe(2);
  });

  it('says that the event store is not the one that the read models are of, and nothing of the books', async () => {
    const other = await testDatabaseUrl();
    const env = { DATABASE_URL: app.config.databaseUrl!, EVENT_STORE_URL: other };
    const { printed, exitCode } = await invoke('audit', env, 'verify');
    expect(printed).toContain('The event store ends before the checkpoint');
    expect(exitCode).toBe(2);
    await dropTestDatabase(other);
  });

  it.each([
    ['its facts', 'payouts.verifications', 'payout_id'],
    ['its item', 'work.items', 'key'],
  ])('names a pending payout that no process verifies, because %s were deleted', async (_, table, id) => {
    const report = await tampered(
      `create table deleted as select * from ${table} where ${id} = '${pending}';
       delete from ${table} where ${id} = '${pending}'`,
      `insert into ${table} select * from deleted; drop table deleted`,
    );
    expect(report.exitCode).toBe(2);
    expect(report.differences).toEqual([
      `payouts.verifications ${pending}: not on the list, and the events say that it is open`,
    ]);
    expect((await audit()).exitCode).not.toBe(2);
  });
});
