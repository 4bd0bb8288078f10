import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { toExitCode } from '../../../src/exit-codes.js';
import { HealthRegistry } from '../../../src/platform/telemetry/health.js';
import { expiryReason } from '../../../src/contexts/payouts/verification/verification.js';
import { eventually } from '../../support/eventually.js';
import { PayoutHarness, type TestReport } from '../../support/payouts/payout-harness.js';

/** Long enough for a check before the end. */
const SHORT_WINDOW = 2;
const NOWHERE = `0x${'cd'.repeat(32)}`;
/** The age in blocks at which anvil calls a block safe. */
const SAFE = 32;
const NOT_FOUND = expiryReason({ kind: 'not_found' });

// Each part has a separate service, because nodes fail, blocks are replaced, and subscriptions are held.
describe('the verification of payouts', () => {
  const harness = PayoutHarness.forSuite();

  describe('receives a payout', () => {
    it('whose transfer is on the chain, with the position of the transfer', async () => {
      const { hash, blockNumber, blockHash } = await harness.chain.transfer(harness.user.wallet, '12.5');
      const id = await harness.report({ hash, amount: '12.50' });
      expect(await harness.settled(id)).toBe('received');
      const [reported, received, ...more] = await harness.history(id);
      expect(more).toEqual([]);
      const receipt = JSON.stringify(await harness.chain.rpc('eth_getTransactionReceipt', [hash]));
      const sha256 = createHash('sha256').update(receipt).digest('hex');
      const { created_at } = reported!.data;
      const place = { log_index: 0, block_number: blockNumber, block_hash: blockHash, confirmations: 1 };
      expect(received).toMatchObject({
        type: 'payout.received.v2',
        data: { ...place, amount: '12.50', value: '12500000', created_at, receipt_sha256: sha256 },
      });
      const kept = `select receipt from payouts.receipts
        where sha256 = sha256(convert_to(receipt, 'UTF8')) and sha256 = decode($1, 'hex')`;
      expect(await harness.db.database.query(kept, [sha256])).toEqual([{ receipt }]);
      await eventually(async () => !(await harness.isListed(id)));
    });

    it('soon after the transfer is mined, if the payout was reported earlier', async () => {
      await harness.chain.rpc('evm_setAutomine', [false]);
      const hash = await harness.broadcast(harness.user.wallet, '1');
      const id = await harness.report({ hash });
      await harness.found(id, 'not_found');
      await harness.chain.mine();
      await harness.chain.rpc('evm_setAutomine', [true]);
      expect(await harness.settled(id)).toBe('received');
    });

    it('of a user in onboarding as soon as the wallet exists', async () => {
      const late = await harness.newUser();
      const id = await harness.report({ user: late, hash: await harness.pay(late) });
      await eventually(() => harness.isListed(id));
      expect(await harness.outcome(id)).toBe('reported');
      await harness.activate(late);
      expect(await harness.settled(id)).toBe('received');
    });

    it('for each of two transfers in one transaction, but not a third payout', async () => {
      const hash = await harness.chain.twoTransfers(harness.user.wallet, '1');
      const ids = await Promise.all(
        [1, 2, 3].map(() => harness.report({ hash, windowSeconds: SHORT_WINDOW })),
      );
      const outcomes = await Promise.all(ids.map((id) => harness.settled(id)));
      expect(outcomes.sort()).toEqual([expiryReason({ kind: 'already_used' }), 'received', 'received']);
      const histories = await Promise.all(ids.map((id) => harness.history(id)));
      const logs = histories.flatMap((events) => events.flatMap(({ data }) => data['log_index'] ?? []));
      expect(new Set(logs).size).toBe(2);
    });
  });

  describe('expires a payout', () => {
    it('once its window is over, with the reason why no transfer counts', async () => {
      const { chain, user } = harness;
      const transfer = async (...to: Parameters<typeof chain.transfer>) => (await chain.transfer(...to)).hash;
      const reasons = [
        ['not_found', NOWHERE],
        ['not_a_hash', '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4t'],
        ['reverted', await chain.revertedTransfer(user.wallet, '1')],
        ['wrong_token', await transfer(user.wallet, '1', await harness.otherToken())],
        ['wrong_recipient', await transfer(chain.newAddress(), '1')],
        ['wrong_amount', await transfer(user.wallet, '1.000001')],
        ['no_wallet', NOWHERE],
      ] as const;
      const walletless = await harness.newUser();
      const ids = await Promise.all(
        reasons.map(([kind, hash]) =>
          harness.report({ hash, windowSeconds: 1, ...(kind === 'no_wallet' && { user: walletless }) }),
        ),
      );
      const outcomes = await Promise.all(ids.map((id) => harness.settled(id)));
      expect(outcomes).toEqual(reasons.map(([kind]) => expiryReason({ kind })));
      for (const id of ids) {
        const [reported, expired] = await harness.history(id);
        const [at, end] = [expired!.data['expired_at'], reported!.data['expires_at']].map(String);
        expect(Date.parse(at!)).toBeGreaterThanOrEqual(Date.parse(end!));
      }
    });

    it('for lack of a wallet only if the user has none, even while the subscription is behind', async () => {
      const late = await harness.newUser();
      const id = await harness.report({
        user: late,
        hash: await harness.pay(late),
        windowSeconds: SHORT_WINDOW,
      });
      await eventually(() => harness.isListed(id));
      const letGo = await harness.holdCheckpoint('payouts.verification');
      try {
        await harness.activate(late);
        expect(await harness.settled(id)).toBe('received');
      } finally {
        await letGo();
      }
    });
  });

  it('does not start in a process whose USDC_ADDRESS is no contract', async () => {
    const failure = await harness
      .start({ USDC_ADDRESS: NOWHERE.slice(0, 42) })
      .catch((error: unknown) => error);
    expect(String(failure)).toContain('is no contract on chain 31337');
    expect(toExitCode(failure)).toBe(78);
  });

  it('decides nothing while the node is down, even at the end of a window, and counts the transfer later', async () => {
    const { node } = harness;
    node.goDown();
    const paid = await harness.report({ hash: await harness.pay(), windowSeconds: 1 });
    const unpaid = await harness.report({ hash: NOWHERE, windowSeconds: 1 });
    await eventually(() => harness.isListed(unpaid));
    const ends = Date.now() + 1000;
    await eventually(() => Date.now() > ends);
    const { requests } = node;
    await eventually(() => node.requests > requests + 1);
    expect([await harness.outcome(paid), await harness.outcome(unpaid)]).toEqual(['reported', 'reported']);
    node.comeBack();
    expect(await harness.settled(paid)).toBe('received');
    expect(await harness.settled(unpaid)).toBe(NOT_FOUND);
  });
});

describe('three confirmations', () => {
  const harness = PayoutHarness.forSuite({ PAYOUT_FINALITY: '3' });

  const confirming = async (report: Partial<TestReport> = {}): Promise<string> => {
    const id = await harness.report({ ...report, hash: report.hash ?? (await harness.pay()) });
    await harness.found(id, 'confirming');
    return id;
  };

  it('are required, and the block of the transfer counts as the first', async () => {
    const id = await confirming();
    await harness.chain.mine(1);
    await harness.expectPending(id);
    await harness.chain.mine(1);
    expect(await harness.settled(id)).toBe('received');
  });

  it('are counted again after a reorganisation', async () => {
    const { chain } = harness;
    const hash = await harness.pay();
    const raw = (await chain.rpc('eth_getRawTransactionByHash', [hash])) as string;
    await chain.mine(1);
    const id = await confirming({ hash });
    await chain.rpc('anvil_reorg', [2, [[raw, 1]]]);
    await harness.expectPending(id);
    await chain.mine(2);
    expect(await harness.settled(id)).toBe('received');
    const [head, included] = [
      Number(await chain.rpc('eth_blockNumber')),
      Number((await harness.history(id))[1]!.data['block_number']),
    ];
    expect(head - included + 1).toBeGreaterThanOrEqual(3);
    chain.funded.reset();
  });
});

describe('the verification on a chain with a safe head', () => {
  // Blocks have timestamps even if many are mined at once.
  const harness = PayoutHarness.forSuite({
    PAYOUT_FINALITY: 'safe',
    CHAIN_MAX_HEAD_AGE_SECONDS: '86400',
    PAYOUT_EXPIRY_MARGIN_SECONDS: '1',
  });

  it('receives a payout when its block is safe and not one block earlier', async () => {
    await harness.chain.mine(SAFE);
    const id = await harness.report({ hash: await harness.pay() });
    await harness.found(id, 'confirming');
    await harness.chain.mine(SAFE - 1);
    await harness.expectPending(id);
    await harness.chain.mine(1);
    expect(await harness.settled(id)).toBe('received');
  });

  it('expires a payout by the time of the safe block and not of the newest one', async () => {
    const id = await harness.report({ hash: NOWHERE, windowSeconds: 1 });
    await harness.chain.rpc('evm_increaseTime', [60]);
    await harness.chain.mine(SAFE - 1);
    await harness.expectPending(id);
    const mining = setInterval(() => void harness.chain.mine(1), 500);
    try {
      expect(await harness.settled(id)).toBe(NOT_FOUND);
    } finally {
      clearInterval(mining);
    }
  });

  it('is not ready, with a reason, while its node does not know the safe tag', async () => {
    const health = async (): Promise<string> =>
      JSON.stringify((await harness.service.app.get(HealthRegistry).report()).checks['chain']);
    expect(await health()).toContain('"ok"');
    harness.node.tamper(({ params }) =>
      params[0] === 'safe' ? { error: { code: -32602, message: 'unknown tag' } } : undefined,
    );
    await eventually(async () => (await health()).includes('no safe block'));
    harness.node.comeBack();
    await eventually(async () => (await health()).includes('"ok"'));
  });
});
