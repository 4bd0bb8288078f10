import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../../test/support/postgres.js';
import { newId } from '../../src/kernel/ids.js';
import { Deposits, type FoundDeposit } from './deposits.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.drop());

it('a deposit whose block leaves the chain is missing, and counts again once the same block is back', async () => {
  const store = new Deposits(db.database);
  const hash = (digit: string): string => `0x${digit.repeat(64)}`;
  const deposit: FoundDeposit = {
    ...{ orderId: newId(), transactionHash: hash('a'), place: 0, amountMinor: 7_000_000n },
    ...{ blockNumber: 5, blockHash: hash('5'), blockAt: new Date() },
  };
  const step = async (blockHash: string, deposits: readonly FoundDeposit[]) =>
    store.store(await store.state(), {
      ...{ base: 4, places: [{ number: 5, hash: blockHash }], deposits, awaited: [] },
    });
  const rows = () =>
    db.database.query('select block_hash, missing_since is not null as is_missing from exchange.deposits');
  const first = { block_hash: hash('5'), is_missing: false };

  await step(hash('5'), [deposit]);
  expect(await rows()).toEqual([first]);
  expect((await step(hash('6'), []))?.missing).toHaveLength(1);
  expect(await rows()).toEqual([{ ...first, is_missing: true }]);
  await step(hash('5'), [deposit]);
  expect(await rows()).toEqual([first]);
});
