import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { newId } from '../../../src/kernel/ids.js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.js';
import { PayoutHarness, type TestUser } from '../../support/payouts/payout-harness.js';
import { specFolder } from '../../support/run-folder.js';

/** So many intervals of the verification: a forged row would have had its outcome. */
const FORGED_MS = 2000;

let harness: PayoutHarness;
let user: TestUser;
let logFile: string;

beforeAll(async () => {
  harness = await PayoutHarness.open();
  logFile = join(specFolder('work-list'), 'service.log');
  await harness.start({ LOG_LEVEL: 'error', LOG_FILE: logFile });
  user = await harness.activeUser();
});
afterAll(() => harness.close());

/** A payout that waits for a transfer that was never sent. */
async function waiting(): Promise<string> {
  const hash = `0x${newId().replaceAll('-', '').repeat(2)}`;
  const id = await harness.report({ user, hash, amount: '5' });
  await eventually(() => harness.isListed(id));
  return id;
}

const change = (sql: string, ...params: unknown[]) => harness.db.database.query(sql, params);

async function expectUndecided(id: string): Promise<void> {
  await eventually(
    async () => (await harness.outcome(id)) !== 'reported' || readFileSync(logFile, 'utf8').includes(id),
  );
  await wait(FORGED_MS);
  expect(await harness.outcome(id)).toBe('reported');
  expect(readFileSync(logFile, 'utf8')).toMatch(
    new RegExp(`${id}.*payout not decided: its row was changed outside the service`),
  );
}

it('a row of the payouts to verify that is changed to another transfer, amount or user confirms nothing', async () => {
  const [transfer, amount, recipient] = [await waiting(), await waiting(), await waiting()];
  const { hash: same } = await harness.chain.transfer(user.wallet, '5');
  await change('update payouts.verifications set hash = $2 where payout_id = $1', transfer, same);
  const { hash: smaller } = await harness.chain.transfer(user.wallet, '1');
  const sql = 'update payouts.verifications set hash = $2, amount_minor = 1000000 where payout_id = $1';
  await change(sql, amount, smaller);
  const other = await harness.activeUser();
  const { hash: theirs } = await harness.chain.transfer(other.wallet, '5');
  await eventually(
    async () => (await change('select from payouts.wallets where user_id = $1', other.id)).length,
  );
  const move = 'update payouts.verifications set hash = $2, user_id = $3 where payout_id = $1';
  await change(move, recipient, theirs, other.id);
  const ids = [transfer, amount, recipient];
  for (const id of ids) await harness.makeDue(id);
  await Promise.all(ids.map(expectUndecided));
});

it('a wallet that is changed in the table confirms no transfer to a stranger', async () => {
  const stranger = harness.chain.newAddress();
  const { hash } = await harness.chain.transfer(stranger, '5');
  const sql = 'update payouts.wallets set address = $2 where user_id = $1';
  await change(sql, user.id, stranger.toLowerCase());
  const id = await harness.report({ user, hash, amount: '5' });
  await expectUndecided(id).finally(() => change(sql, user.id, user.wallet.toLowerCase()));
});

it('a row with another transaction lets no payout expire whose transfer is there', async () => {
  const { hash } = await harness.chain.transfer(user.wallet, '7');
  const release = await harness.holdCheckpoint('payouts.verification');
  const id = await harness.report({ user, hash, amount: '7', windowSeconds: 1 });
  // The row that the saga adds later loses to this one.
  await harness.forge({ id, user, hash: `0x${'ab'.repeat(32)}`, amountMinor: 7_000_000, seconds: 0 });
  await release();
  await expectUndecided(id);
  await change('update payouts.verifications set hash = $2 where payout_id = $1', id, hash);
  await harness.makeDue(id);
  expect(await harness.settled(id)).toBe('received');
});

it('a row for a payout that was never reported confirms nothing, and is removed', async () => {
  const { hash } = await harness.chain.transfer(user.wallet, '3');
  const id = newId();
  await harness.forge({ id, user, hash, amountMinor: 3_000_000, seconds: 3600 });
  await eventually(async () => !(await harness.isListed(id)));
  expect(await harness.history(id)).toEqual([]);
});
