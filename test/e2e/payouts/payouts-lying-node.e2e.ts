import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { expiryReason } from '../../../src/contexts/payouts/domain/verification.js';
import { eventually } from '../../support/eventually.js';
import { PayoutHarness, type TestUser } from '../../support/payouts/payout-harness.js';

/** Several waits, each with the timeout of `eventually`. */
const TEST_MS = 150_000;
const RECEIPT = 'eth_getTransactionReceipt';

describe('a node that is wrong about a chain whose blocks have times', () => {
  let harness: PayoutHarness;
  let user: TestUser;

  beforeAll(async () => {
    harness = await PayoutHarness.open();
    await harness.chain.rpc('evm_setIntervalMining', [1]);
    await harness.start({ CHAIN_MAX_HEAD_AGE_SECONDS: '30', PAYOUT_EXPIRY_MARGIN_SECONDS: '1' });
    user = await harness.activeUser();
  });
  afterEach(() => harness.node.comeBack());
  afterAll(() => harness.close());

  it(
    'and stalls 21 blocks behind ends nothing',
    async () => {
      await harness.node.freeze();
      await harness.chain.mine(20);
      const { hash } = await harness.chain.transfer(user.wallet, '1');
      const id = await harness.report({ user, hash, windowSeconds: 1 });
      await wait(4000);
      expect(await harness.outcome(id)).toBe('reported');
      harness.node.comeBack();
      expect(await harness.settled(id)).toBe('received');
    },
    TEST_MS,
  );

  it(
    'and shows no receipts up to the end of the window, and once after it, ends nothing',
    async () => {
      const { hash } = await harness.chain.transfer(user.wallet, '1');
      const id = await harness.report({ user, hash, windowSeconds: 1 });
      const end = Date.now() + 2500;
      let after = 0;
      harness.node.tamper(({ method, params }) => {
        if (method !== RECEIPT || params[0] !== hash) return undefined;
        if (Date.now() > end) after += 1;
        return after <= 1 ? { result: null } : undefined;
      });
      expect(await harness.settled(id)).toBe('received');
    },
    TEST_MS,
  );

  it(
    'expires what is on no block, once its own time has passed the window',
    async () => {
      const id = await harness.report({ user, hash: `0x${'ce'.repeat(32)}`, windowSeconds: 1 });
      expect(await harness.settled(id)).toBe(expiryReason({ kind: 'not_found' }));
    },
    TEST_MS,
  );

  it(
    'receives payouts of others while the node does not respond to requests for certain hashes; those expire later',
    async () => {
      const other = await harness.activeUser();
      const bad = Array.from({ length: 40 }, (_, n) => `0x${n.toString(16).padStart(64, 'b')}`);
      harness.node.cutFor((call) => call.method === RECEIPT && bad.includes(String(call.params[0])));
      const ids = await Promise.all(bad.map((hash) => harness.report({ user, hash, windowSeconds: 2 })));
      const { hash } = await harness.chain.transfer(other.wallet, '1');
      expect(await harness.settled(await harness.report({ user: other, hash }))).toBe('received');
      harness.node.comeBack();
      await eventually(async () =>
        (await Promise.all(ids.map((id) => harness.outcome(id)))).every((each) => each !== 'reported'),
      );
    },
    TEST_MS,
  );
});
