import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { PayoutOutcomes } from '../../../src/contexts/payouts/verification/payout-outcomes.service.js';
import { expiryReason } from '../../../src/contexts/payouts/verification/verification.js';
import { newId } from '../../../src/kernel/ids.js';
import { eventually } from '../../support/eventually.js';
import { evidenceAt } from '../../support/payouts/evidence.js';
import { PayoutHarness } from '../../support/payouts/payout-harness.js';
import { randomHash } from '../../support/payouts/payout-calls.js';
import { specFolder } from '../../support/run-folder.js';

const REPEATS = 20;
const NOWHERE = `0x${'ef'.repeat(32)}`;
const logFile = join(specFolder('races'), 'service.log');
const settings = { LOG_LEVEL: 'error', LOG_FILE: logFile };
// A separate service, because of two processes, a failing node, and changed rows.
const harness = PayoutHarness.forSuite(settings);
const change = (sql: string, ...params: unknown[]) => harness.db.database.query(sql, params);

describe('two processes on one database', () => {
  let both: PayoutOutcomes[];

  beforeAll(async () => {
    both = [harness.service, await harness.start(settings)].map(({ app }) => app.get(PayoutOutcomes));
  });

  const rowOf = (payoutId: string) => ({
    payoutId,
    userId: harness.user.id,
    hash: NOWHERE,
    amountMinor: 1_000_000n,
  });

  it('end a payout once if one process receives it while the other lets it expire', async () => {
    harness.node.goDown();
    const ids = await Promise.all(
      Array.from({ length: REPEATS }, () => harness.report({ hash: NOWHERE, windowSeconds: 1 })),
    );
    await wait(1100);
    const race = ids.flatMap((id, place) => {
      const receive = (outcomes: PayoutOutcomes) => outcomes.receive(rowOf(id), [evidenceAt(place)]);
      const expire = (outcomes: PayoutOutcomes) => outcomes.expire(rowOf(id), 'too late');
      const [one, other] = place % 2 === 0 ? both : [...both].reverse();
      return [receive(one!), expire(other!), receive(other!), expire(one!)];
    });
    await Promise.all(race);
    for (const id of ids) expect(await harness.history(id)).toHaveLength(2);
    const count = 'select count(*)::int as n from event_store.events where type = $1 and stream like $2';
    expect(await change(count, 'payout.received.v2', '%')).toEqual(
      await change(count, 'claim.taken.v1', 'transfer-%'),
    );
  });

  it('report that a payout has ended already or has time left', async () => {
    harness.node.goDown();
    const [id, other] = await Promise.all([1, 2].map(() => harness.report({ hash: NOWHERE })));
    const [one, two] = both as [PayoutOutcomes, PayoutOutcomes];
    expect(await one.expire(rowOf(id!), 'too early')).toBe('early');
    const receive = (outcomes: PayoutOutcomes, payoutId: string, ...logs: number[]) =>
      outcomes.receive(rowOf(payoutId), logs.map(evidenceAt));
    expect(await receive(one, id!, 100)).toBe('written');
    expect(await receive(two, id!, 100)).toBe('ended');
    expect(await two.expire(rowOf(id!), 'too late')).toBe('ended');
    expect(await receive(two, other!, 100)).toBe('used');
    expect(await receive(two, other!, 100, 101)).toBe('written');
    expect((await harness.history(other!)).at(-1)!.data['log_index']).toBe(101);
  });

  it('assign a transfer to only one of the payouts that name it', async () => {
    const pairs: string[][] = [];
    for (let pair = 0; pair < REPEATS; pair += 1) {
      const hash = await harness.pay();
      pairs.push(await Promise.all([1, 2].map(() => harness.report({ hash, windowSeconds: 2 }))));
    }
    const outcomes = await Promise.all(
      pairs.map(async (ids) => (await Promise.all(ids.map((id) => harness.settled(id)))).sort()),
    );
    expect(outcomes).toEqual(pairs.map(() => [expiryReason({ kind: 'already_used' }), 'received']));
  });
});

describe('the table of payouts to verify, if it was changed outside the service,', () => {
  const expectUndecided = async (id: string): Promise<void> => {
    const log = (): string => readFileSync(logFile, 'utf8');
    await eventually(async () => (await harness.outcome(id)) !== 'reported' || log().includes(id));
    expect(await harness.outcome(id)).toBe('reported');
    expect(log()).toMatch(new RegExp(`${id}.*payout not decided: its row was changed outside the service`));
  };

  it('confirms nothing if a row has another transfer, amount or user', async () => {
    const { user } = harness;
    // Their transfer was never sent.
    const ids = await Promise.all([1, 2, 3].map(() => harness.report({ hash: randomHash(), amount: '5' })));
    await Promise.all(ids.map((id) => eventually(() => harness.isListed(id))));
    const [transfer, amount, recipient] = ids;
    const other = await harness.activeUser();
    const update = `update payouts.verifications set hash = $2, amount_minor = $3, user_id = $4 where payout_id = $1`;
    await change(update, transfer, await harness.pay(user, '5'), 5_000_000, user.id);
    await change(update, amount, await harness.pay(user, '1'), 1_000_000, user.id);
    await change(update, recipient, await harness.pay(other, '5'), 5_000_000, other.id);
    for (const id of ids) await harness.makeDue(id);
    await Promise.all(ids.map(expectUndecided));
  });

  it('lets no payout with an existing transfer expire if its row has another transaction', async () => {
    const { user } = harness;
    const hash = await harness.pay(user, '7');
    const release = await harness.holdCheckpoint('payouts.verification');
    const id = await harness.report({ hash, amount: '7', windowSeconds: 1 });
    // The saga adds its row later, and keeps this one.
    await harness.forge({ id, user, hash: `0x${'ab'.repeat(32)}`, amountMinor: 7_000_000, seconds: 0 });
    await release();
    await expectUndecided(id);
    await change('update payouts.verifications set hash = $2 where payout_id = $1', id, hash);
    await harness.makeDue(id);
    expect(await harness.settled(id)).toBe('received');
  });

  it('drops the row of a payout that was never reported, and confirms nothing', async () => {
    const { user } = harness;
    const [id, hash] = [newId(), await harness.pay(user, '3')];
    await harness.forge({ id, user, hash, amountMinor: 3_000_000, seconds: 3600 });
    await eventually(async () => !(await harness.isListed(id)));
    expect(await harness.history(id)).toEqual([]);
  });
});
