import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { wholeJourney, type WholeJourney } from '../support/whole-journey.js';

describe('npm run rebuild -- --compare-only, on what a service wrote', () => {
  let journey: WholeJourney;

  beforeAll(async () => {
    journey = await wholeJourney();
  });
  afterAll(() => journey.close());

  it('finds every read model as the events say, and changes nothing', async () => {
    const { printed, exitCode } = await journey.run('rebuild', '--compare-only');
    const tables = printed.split('\n').filter((line) => line.startsWith('  '));
    expect(tables.length).toBeGreaterThan(7);
    expect(tables.filter((line) => !line.endsWith(', as the events say'))).toEqual([]);
    expect(printed).toMatch(/payouts\.payouts: 3 rows/);
    expect(exitCode).toBeNull();
  });

  it('says in words what somebody changed, until a rebuild mends it', async () => {
    await journey.app.database.query('update payouts.balances set confirmed = 1 where user_id = $1', [
      journey.user,
    ]);
    const compared = await journey.run('rebuild', 'payouts.views', '--compare-only');
    expect(compared.printed).toContain('1 was not as the events say');
    expect(compared.printed).toContain(
      `payouts.balances ${journey.user}: confirmed is 1, the events say 12500000`,
    );
    expect(compared.exitCode).toBe(2);
    const { printed } = await journey.run('rebuild', 'payouts.views');
    expect(printed).toContain('confirmed is 1, the events say 12500000');
    expect((await journey.run('rebuild', 'payouts.views', '--compare-only')).exitCode).toBeNull();
  });
});
