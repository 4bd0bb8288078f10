import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CommandBus } from '@nestjs/cqrs';
import { setTimeout as wait } from 'node:timers/promises';
import { ExpirePayout, ReceivePayout } from '../../../src/contexts/payouts/application/payout-outcomes.js';
import { expiryReason } from '../../../src/contexts/payouts/domain/verification.js';
import { CHAIN_ID } from '../../support/payouts/chain.js';
import { evidenceAt } from '../../support/payouts/evidence.js';
import { PayoutHarness, type TestUser } from '../../support/payouts/payout-harness.js';

const REPEATS = 20;
const NOWHERE = `0x${'ef'.repeat(32)}`;

describe('two processes on one database', () => {
  let harness: PayoutHarness;
  let user: TestUser;
  let buses: CommandBus[];

  beforeAll(async () => {
    harness = await PayoutHarness.open();
    buses = [(await harness.start()).app.get(CommandBus), (await harness.start()).app.get(CommandBus)];
    user = await harness.activeUser();
  });
  afterAll(() => harness.close());

  it('end a payout once when one receives it while the other lets it expire', async () => {
    harness.node.goDown();
    const ids = await Promise.all(
      Array.from({ length: REPEATS }, () => harness.report({ user, hash: NOWHERE, windowSeconds: 1 })),
    );
    await wait(1100);
    const race = ids.flatMap((id, place) => {
      const receive = new ReceivePayout(id, CHAIN_ID, NOWHERE, [evidenceAt(place)]);
      const expire = new ExpirePayout(id, 'too late');
      const [one, other] = place % 2 === 0 ? buses : [...buses].reverse();
      return [one!.execute(receive), other!.execute(expire), other!.execute(receive), one!.execute(expire)];
    });
    await Promise.all(race);
    for (const id of ids) expect(await harness.history(id)).toHaveLength(2);
    harness.node.comeBack();
    expect(await countOf(harness, 'payout.received.v2')).toBe(
      await countOf(harness, 'claim.taken.v1', 'transfer-%'),
    );
  });

  it('say so when a payout has its outcome already, or has time left', async () => {
    harness.node.goDown();
    const [id, other] = await Promise.all([1, 2].map(() => harness.report({ user, hash: NOWHERE })));
    const [one, two] = buses as [CommandBus, CommandBus];
    expect(await one.execute(new ExpirePayout(id!, 'too early'))).toBe('early');
    const receive = (payoutId: string, ...logs: number[]): ReceivePayout =>
      new ReceivePayout(payoutId, CHAIN_ID, NOWHERE, logs.map(evidenceAt));
    expect(await one.execute(receive(id!, 100))).toBe('received');
    expect(await two.execute(receive(id!, 100))).toBe('ended');
    expect(await two.execute(new ExpirePayout(id!, 'too late'))).toBe('ended');
    expect(await two.execute(receive(other!, 100))).toBe('used');
    expect(await two.execute(receive(other!, 100, 101))).toBe('received');
    expect((await harness.history(other!)).at(-1)!.data['log_index']).toBe(101);
    harness.node.comeBack();
  });

  it('give one transfer to one of the payouts that name it', async () => {
    const wins: string[] = [];
    for (let repeat = 0; repeat < REPEATS; repeat += 1) {
      const hash = (await harness.chain.transfer(user.wallet, '1')).hash;
      const ids = await Promise.all([1, 2].map(() => harness.report({ user, hash, windowSeconds: 2 })));
      wins.push(...ids);
    }
    const outcomes = await Promise.all(wins.map((id) => harness.settled(id)));
    for (let pair = 0; pair < outcomes.length; pair += 2) {
      expect(outcomes.slice(pair, pair + 2).sort()).toEqual([
        expiryReason({ kind: 'already_used' }),
        'received',
      ]);
    }
  });

  it('bring every payout to one outcome when transfers are mined as their windows end', async () => {
    await harness.chain.rpc('evm_setAutomine', [false]);
    const ids: string[] = [];
    for (let n = 0; n < REPEATS; n += 1) {
      const hash = await harness.broadcast(user.wallet, '1');
      ids.push(await harness.report({ user, hash, windowSeconds: 1 }));
    }
    await wait(1000);
    await harness.chain.rpc('evm_setAutomine', [true]);
    await harness.chain.mine();
    const outcomes = await Promise.all(ids.map((id) => harness.settled(id)));
    for (const outcome of outcomes)
      expect(['received', expiryReason({ kind: 'not_found' })]).toContain(outcome);
    await wait(300);
    for (const id of ids) expect(await harness.history(id)).toHaveLength(2);
  });
});

async function countOf(harness: PayoutHarness, type: string, stream = '%'): Promise<number> {
  const [row] = await harness.db.database.query<{ count: number }>(
    'select count(*)::int as count from event_store.events where type = $1 and stream like $2',
    [type, stream],
  );
  return row!.count;
}
