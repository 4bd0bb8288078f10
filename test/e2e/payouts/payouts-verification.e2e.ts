import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expiryReason } from '../../../src/contexts/payouts/domain/verification.js';
import { eventually } from '../../support/eventually.js';
import { PayoutHarness, type TestUser } from '../../support/payouts/payout-harness.js';

/** Long enough for a check before the end. */
const SHORT_WINDOW = 2;
const NOWHERE = `0x${'cd'.repeat(32)}`;

describe('the verification of payouts', () => {
  let harness: PayoutHarness;
  let user: TestUser;

  beforeAll(async () => {
    harness = await PayoutHarness.open();
    await harness.start();
    user = await harness.activeUser();
  });
  afterEach(() => harness.node.comeBack());
  afterAll(() => harness.close());

  const pay = async (to: TestUser, amount = '1'): Promise<string> =>
    (await harness.chain.transfer(to.wallet, amount)).hash;

  describe('receives a payout', () => {
    it('whose transfer is on the chain, and keeps where', async () => {
      const { hash, blockNumber, blockHash } = await harness.chain.transfer(user.wallet, '12.5');
      const id = await harness.report({ user, hash, amount: '12.50' });
      expect(await harness.settled(id)).toBe('received');
      const events = await harness.history(id);
      expect(events).toHaveLength(2);
      expect(events[1]!.data).toMatchObject({ log_index: 0, block_number: blockNumber, amount: '12.50' });
      await harness.chain.mine(3);
      const block = (await harness.chain.rpc('eth_getBlockByHash', [blockHash, false])) as {
        timestamp: string;
      };
      const receipt = JSON.stringify(await harness.chain.rpc('eth_getTransactionReceipt', [hash]));
      const sha256 = createHash('sha256').update(receipt).digest('hex');
      expect(events[1]!.type).toBe('payout.received.v2');
      expect(events[1]!.data).toMatchObject({
        created_at: events[0]!.data['created_at'],
        block_hash: blockHash,
        confirmations: 1,
        block_time: new Date(Number(block.timestamp) * 1000).toISOString(),
        value: '12500000',
        token: harness.chain.usdcAddress.toLowerCase(),
        to: user.wallet.toLowerCase(),
        from: (await harness.chain.funded.getAddress()).toLowerCase(),
        receipt_sha256: sha256,
      });
      expect(
        await harness.db.database.query(
          `select receipt from payouts.receipts where sha256 = sha256(convert_to(receipt, 'UTF8')) and sha256 = decode($1, 'hex')`,
          [sha256],
        ),
      ).toEqual([{ receipt }]);
      await eventually(async () => (await harness.finding(id)) === null);
    });

    it.each<[string, (hash: string) => string]>([
      ['in upper case', (hash) => hash.toUpperCase()],
      ['with spaces around it', (hash) => `  ${hash} `],
      ['without a prefix', (hash) => hash.slice(2)],
      ['without a prefix, in upper case', (hash) => hash.slice(2).toUpperCase()],
    ])('whose hash was sent %s, and keeps it as it was sent', async (_name, change) => {
      const sent = change(await pay(user));
      const id = await harness.report({ user, hash: sent });
      expect(await harness.settled(id)).toBe('received');
      expect((await harness.history(id))[1]!.data['transaction_hash']).toBe(sent);
    });

    it('soon after the transfer is mined, when it was reported before', async () => {
      await harness.chain.rpc('evm_setAutomine', [false]);
      const hash = await harness.broadcast(user.wallet, '1');
      const id = await harness.report({ user, hash });
      await harness.found(id, 'not_found');
      await harness.chain.mine();
      await harness.chain.rpc('evm_setAutomine', [true]);
      expect(await harness.settled(id)).toBe('received');
    });

    it('of a user who was onboarding, as soon as the wallet is there', async () => {
      const late = await harness.newUser();
      const id = await harness.report({ user: late, hash: await pay(late) });
      await wait(300);
      expect(await harness.outcome(id)).toBe('reported');
      await harness.activate(late);
      expect(await harness.settled(id)).toBe('received');
    });

    it('once for each of several logs of one transaction, and not a third time', async () => {
      const both = await harness.chain.twoTransfers(user.wallet, '1');
      const ids = await Promise.all(
        [1, 2, 3].map(() => harness.report({ user, hash: both, windowSeconds: SHORT_WINDOW })),
      );
      const outcomes = await Promise.all(ids.map((id) => harness.settled(id)));
      expect(outcomes.sort()).toEqual([expiryReason({ kind: 'already_used' }), 'received', 'received']);
      const histories = await Promise.all(ids.map((id) => harness.history(id)));
      const logs = histories.flatMap((events) => events.flatMap(({ data }) => data['log_index'] ?? []));
      expect(new Set(logs).size).toBe(2);
    });
  });

  describe('expires a payout, and says why', () => {
    const reasons: [kind: string, hash: () => Promise<string>][] = [
      ['not_found', async () => NOWHERE],
      ['not_a_hash', async () => '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4t'],
      ['reverted', async () => harness.chain.revertedTransfer(user.wallet, '1')],
      [
        'wrong_token',
        async () => (await harness.chain.transfer(user.wallet, '1', await harness.otherToken())).hash,
      ],
      ['wrong_recipient', async () => (await harness.chain.transfer(harness.chain.newAddress(), '1')).hash],
      ['wrong_amount', async () => (await harness.chain.transfer(user.wallet, '1.000001')).hash],
      ['wrong_amount', async () => (await harness.chain.transfer(user.wallet, '0.999999')).hash],
    ];
    let ids: string[];
    beforeAll(async () => {
      const hashes: string[] = [];
      for (const [, hashOf] of reasons) hashes.push(await hashOf());
      ids = await Promise.all(hashes.map((hash) => harness.report({ user, hash, windowSeconds: 1 })));
    });

    it.each(reasons.map(([kind], place) => [kind, place] as const))('%s (%i)', async (kind, place) => {
      expect(await harness.settled(ids[place]!)).toBe(expiryReason({ kind: kind as 'not_found' }));
      const [reported, expired] = await harness.history(ids[place]!);
      expect(Date.parse(String(expired!.data['expired_at']))).toBeGreaterThanOrEqual(
        Date.parse(String(reported!.data['expires_at'])),
      );
    });

    it('already used by another payout', async () => {
      const hash = await pay(user);
      const first = await harness.report({ user, hash });
      expect(await harness.settled(first)).toBe('received');
      const second = await harness.report({ user, hash: hash.toUpperCase(), windowSeconds: SHORT_WINDOW });
      expect(await harness.settled(second)).toBe(expiryReason({ kind: 'already_used' }));
    });

    it('no wallet only where the user has none: the list of wallets may be behind', async () => {
      const late = await harness.newUser();
      const id = await harness.report({ user: late, hash: await pay(late), windowSeconds: SHORT_WINDOW });
      await eventually(() => harness.isListed(id));
      const letGo = await harness.holdCheckpoint('payouts.verification');
      try {
        await harness.activate(late);
        await wait(SHORT_WINDOW * 1000 + 1000);
        expect(await harness.outcome(id)).toBe('reported');
      } finally {
        await letGo();
      }
      expect(await harness.settled(id)).toBe('received');
    });

    it('no wallet to the end', async () => {
      const walletless = await harness.newUser();
      const id = await harness.report({ user: walletless, hash: NOWHERE, windowSeconds: 1 });
      expect(await harness.settled(id)).toBe(expiryReason({ kind: 'no_wallet' }));
    });
  });

  describe('with a node that cannot be relied on', () => {
    it('decides nothing while it is unavailable over the end of the window; then a transfer that is there counts', async () => {
      harness.node.goDown();
      const paid = await harness.report({ user, hash: await pay(user), windowSeconds: 1 });
      const unpaid = await harness.report({ user, hash: NOWHERE, windowSeconds: 1 });
      await wait(2000);
      expect([await harness.outcome(paid), await harness.outcome(unpaid)]).toEqual(['reported', 'reported']);
      harness.node.comeBack();
      expect(await harness.settled(paid)).toBe('received');
      expect(await harness.settled(unpaid)).toBe(expiryReason({ kind: 'not_found' }));
    });
  });
});

describe('confirmations', () => {
  let harness: PayoutHarness;
  let user: TestUser;

  beforeAll(async () => {
    harness = await PayoutHarness.open();
    await harness.start({ PAYOUT_FINALITY: '3' });
    user = await harness.activeUser();
  });
  afterAll(() => harness.close());

  it('are waited for; the block of the transfer is the first', async () => {
    const { hash } = await harness.chain.transfer(user.wallet, '1');
    const id = await harness.report({ user, hash });
    await harness.found(id, 'confirming');
    await harness.chain.mine(1);
    await wait(500);
    expect(await harness.outcome(id)).toBe('reported');
    await harness.chain.mine(1);
    expect(await harness.settled(id)).toBe('received');
  });

  it('that never come let the payout expire with the number of blocks that are missing', async () => {
    const { hash } = await harness.chain.transfer(user.wallet, '1');
    const id = await harness.report({ user, hash, windowSeconds: 1 });
    expect(await harness.settled(id)).toBe(expiryReason({ kind: 'confirming', blocks: 2 }));
  });

  it('begin again after a reorganisation', async () => {
    const { hash } = await harness.chain.transfer(user.wallet, '1');
    const raw = (await harness.chain.rpc('eth_getRawTransactionByHash', [hash])) as string;
    await harness.chain.mine(1);
    const id = await harness.report({ user, hash });
    await harness.found(id, 'confirming');
    await harness.chain.rpc('anvil_reorg', [2, [[raw, 1]]]);
    await wait(500);
    expect(await harness.outcome(id)).toBe('reported');
    await harness.chain.mine(2);
    expect(await harness.settled(id)).toBe('received');
    const [head, included] = [
      Number(await harness.chain.rpc('eth_blockNumber')),
      Number((await harness.history(id))[1]!.data['block_number']),
    ];
    expect(head - included + 1).toBeGreaterThanOrEqual(3);
    harness.chain.funded.reset();
  });
});
