import { beforeAll, describe, expect, it } from '@jest/globals';
import { onTestApp } from '../../support/app.js';
import { invoke, type Run } from '../../support/programs/operator.js';
import {
  createPayee,
  createUser,
  getPayout,
  reported,
  settledPayout,
} from '../../support/payouts/payout-calls.js';

interface Balance {
  readonly confirmed: string;
  readonly pending: string;
  readonly committed: string;
  readonly position: string;
  readonly events_read: number;
  readonly payouts: { id: string; status: string }[];
  readonly api: { agrees: boolean } | null;
}

describe('npm run audit -- balance', () => {
  const app = onTestApp();
  let user: string;
  let received: string;
  let pending: string;
  let events: { stream: string; type: string; position: string; recorded_at: Date }[];

  beforeAll(async () => {
    const payee = await createPayee(app.merchant);
    user = payee.id;
    const { hash } = await app.chain.transfer(payee.wallet, '12.50');
    received = (await reported(app.merchant, user, { amount: '12.50', transaction_hash: hash })).id;
    await settledPayout(app.merchant, received);
    pending = (await reported(app.merchant, user, { amount: '7' })).id;
    // Of somebody else: none of it counts.
    await reported(app.merchant, await createUser(app.merchant), { amount: '99' });
    await getPayout(app.merchant, pending);
    events = await app.database.query(
      'select stream, type, position, recorded_at from event_store.events order by position',
    );
  });

  const run = (...args: string[]): Promise<Run> =>
    invoke('audit', { DATABASE_URL: app.config.databaseUrl! }, ...args);
  const balance = async (...args: string[]): Promise<Balance> =>
    JSON.parse((await run('--json', 'balance', '--user', user, ...args)).printed) as Balance;
  const positionOf = (stream: string, type: string): string =>
    events.find((event) => event.stream === stream && event.type === type)!.position;

  it('prints the present balance, equal to that of the API', async () => {
    const { printed, exitCode } = await run('balance', '--user', user);
    expect(printed).toMatch(/^confirmed +12\.5 +USDC, 1 payout$/m);
    expect(printed).toMatch(/^pending +7 +USDC, 1 payout$/m);
    expect(printed).toMatch(/^committed +19\.5/m);
    expect(printed).toMatch(new RegExp(`^${received} +12\\.50 +received +[0-9-]{10} .*`, 'm'));
    expect(printed).toContain('the API says the same');
    expect(exitCode).toBeNull();
  });

  it('prints the balance at a position, itself included', async () => {
    const receivedAt = positionOf(`payout-${received}`, 'payout.received.v2');
    expect(await balance('--at', receivedAt)).toMatchObject({ confirmed: '12.5', pending: '0', api: null });
    const before = await balance('--at', String(BigInt(receivedAt) - 1n));
    expect(before).toMatchObject({ confirmed: '0', pending: '12.5', committed: '12.5' });
    expect(before.payouts).toMatchObject([{ id: received, status: 'pending' }]);
  });

  it('prints the balance at a time, and reads the log no further', async () => {
    const reportedAt = events.find(({ stream }) => stream === `payout-${received}`)!;
    const then = await balance('--at', reportedAt.recorded_at.toISOString());
    expect(then).toMatchObject({ confirmed: '0', pending: '12.5' });
    expect(then.events_read).toBeLessThan((await balance()).events_read);
    const shifted = new Date(reportedAt.recorded_at.getTime() + 7_200_000).toISOString();
    expect(await balance('--at', shifted.replace('Z', '+02:00'))).toEqual(then);
  });

  it('reads only the streams that the read model names, with --quick', async () => {
    const quick = await balance('--quick');
    expect(quick).toMatchObject({ confirmed: '12.5', pending: '7', committed: '19.5', events_read: 3 });
    expect(quick.payouts.map(({ id }) => id)).toEqual([received, pending]);
  });

  it('says so, with exit code 2, when the API says something else', async () => {
    const change = (by: string): Promise<unknown> =>
      app.database.query(`update payouts.balances set confirmed = confirmed ${by} where user_id = $1`, [
        user,
      ]);
    await change('+ 1000000');
    try {
      const { printed, exitCode } = await run('balance', '--user', user);
      expect(printed).toContain('DIFFERS   the API says 13.5 confirmed, 7 pending; the events');
      expect(exitCode).toBe(2);
    } finally {
      await change('- 1000000');
    }
  });

  it.each<[string, () => string[], RegExp]>([
    ['of an unknown user', () => ['--user', 'd88999a2-201a-8423-b384-5c58e425bb7d'], /knows no user/],
    ['of no id', () => ['--user', 'x'], /is no id of a user/],
    ['at an invalid point', () => ['--user', user, '--at', 'yesterday'], /--at takes a position/],
    ['in the future', () => ['--user', user, '--at', '9999-01-01'], /is in the future/],
    ['beyond the log', () => ['--user', user, '--at', '999999999'], /log ends at position/],
    ['before the user', () => ['--user', user, '--at', '2001-01-01'], /was created at position/],
    ['at a place before the user', () => ['--user', user, '--at', '0'], /was created at position/],
  ])('refuses a balance %s', async (_name, args, message) => {
    await expect(run('balance', ...args())).rejects.toThrow(message);
  });
});
