import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { HealthRegistry } from '../../../src/platform/telemetry/health.js';
import { expiryReason } from '../../../src/contexts/payouts/domain/verification.js';
import type { Service } from '../../../src/service.js';
import { eventually } from '../../support/eventually.js';
import { PayoutHarness, type TestUser } from '../../support/payouts/payout-harness.js';
import { TestNode, type Tampering } from '../../support/payouts/test-node.js';

/** Several waits, each of which `eventually` bounds. */
const TEST_MS = 150_000;
/** anvil calls a block safe that is so many blocks old. */
const SAFE = 32;
/** Long enough for many rounds of verification. */
const ROUNDS_MS = 2000;
/** The dev chain as one whose blocks have times, however far mining many at once takes it ahead. */
const SETTINGS = {
  PAYOUT_FINALITY: 'safe',
  CHAIN_MAX_HEAD_AGE_SECONDS: '86400',
  PAYOUT_EXPIRY_MARGIN_SECONDS: '1',
};

interface RawBlock {
  readonly number: string;
  readonly hash: string;
  readonly timestamp: string;
}

const safeBlock =
  (change: (block: RawBlock) => RawBlock | null): Tampering =>
  ({ method, params }, { result }) =>
    method === 'eth_getBlockByNumber' && params[0] === 'safe'
      ? { result: change(result as RawBlock) }
      : undefined;

describe('a chain with a safe head', () => {
  let harness: PayoutHarness;
  let user: TestUser;
  let service: Service;

  beforeAll(async () => {
    harness = await PayoutHarness.open();
    await harness.chain.mine(SAFE);
    service = await harness.start(SETTINGS);
    user = await harness.activeUser();
  });
  afterEach(() => harness.node.comeBack());
  afterAll(() => harness.close());

  const paid = async (windowSeconds?: number): Promise<string> => {
    const { hash } = await harness.chain.transfer(user.wallet, '1');
    return harness.report({ user, hash, windowSeconds });
  };
  /** Mines blocks later than every window here, and as many more as make them safe. */
  const passWindows = async (): Promise<void> => {
    await harness.chain.rpc('evm_increaseTime', [60]);
    await harness.chain.mine(SAFE + 2);
  };
  const safe = (): Promise<RawBlock> =>
    harness.chain.rpc('eth_getBlockByNumber', ['safe', false]) as Promise<RawBlock>;

  it(
    'receives a payout when its block is safe, and not one block earlier',
    async () => {
      const id = await paid();
      await harness.found(id, 'confirming');
      await harness.chain.mine(SAFE - 1);
      await wait(ROUNDS_MS);
      expect(await harness.outcome(id)).toBe('reported');
      await harness.chain.mine(1);
      expect(await harness.settled(id)).toBe('received');
    },
    TEST_MS,
  );

  it(
    'expires a payout by the time of the safe block, not of the newest one',
    async () => {
      const id = await harness.report({ user, hash: `0x${'ab'.repeat(32)}`, windowSeconds: 1 });
      await harness.chain.rpc('evm_increaseTime', [60]);
      await harness.chain.mine(SAFE - 1);
      await wait(ROUNDS_MS);
      expect(await harness.outcome(id)).toBe('reported');
      const mining = setInterval(() => void harness.chain.mine(1), 500);
      try {
        expect(await harness.settled(id)).toBe(expiryReason({ kind: 'not_found' }));
      } finally {
        clearInterval(mining);
      }
    },
    TEST_MS,
  );

  it(
    'whose safe head is stuck neither receives nor expires anything until it moves',
    async () => {
      const stuck = await safe();
      harness.node.tamper(safeBlock(() => stuck));
      const [there, missing] = [
        await paid(1),
        await harness.report({ user, hash: `0x${'ac'.repeat(32)}`, windowSeconds: 1 }),
      ];
      await passWindows();
      await wait(ROUNDS_MS);
      expect([await harness.outcome(there), await harness.outcome(missing)]).toEqual([
        'reported',
        'reported',
      ]);
      harness.node.comeBack();
      const mining = setInterval(() => void harness.chain.mine(1), 500);
      try {
        expect(await harness.settled(there)).toBe('received');
        expect(await harness.settled(missing)).toBe(expiryReason({ kind: 'not_found' }));
      } finally {
        clearInterval(mining);
      }
    },
    TEST_MS,
  );

  it(
    'whose sequencer takes a transfer back before it is safe receives nothing',
    async () => {
      const id = await paid(1);
      await harness.found(id, 'confirming');
      await harness.chain.mine(SAFE - 2);
      await harness.chain.reorg(SAFE - 1);
      await passWindows();
      const mining = setInterval(() => void harness.chain.mine(1), 500);
      try {
        expect(await harness.settled(id)).toBe(expiryReason({ kind: 'not_found' }));
      } finally {
        clearInterval(mining);
      }
    },
    TEST_MS,
  );

  it(
    'whose node names a safe block with another hash than the chain has there ends nothing',
    async () => {
      const id = await paid(1);
      await harness.chain.rpc('evm_increaseTime', [60]);
      await harness.chain.mine(2);
      const { number, hash } = (await harness.chain.rpc('eth_getBlockByNumber', [
        'latest',
        false,
      ])) as RawBlock;
      const before = `0x${(Number(number) - 1).toString(16)}`;
      harness.node.tamper(safeBlock(() => ({ number: before, hash, timestamp: '0x1' })));
      await wait(ROUNDS_MS);
      expect(await harness.outcome(id)).toBe('reported');
      harness.node.comeBack();
      await harness.chain.mine(SAFE);
      expect(await harness.settled(id)).toBe('received');
    },
    TEST_MS,
  );

  it(
    'is not ready while its node does not know the tag, and says why',
    async () => {
      const chainHealth = async (): Promise<unknown> =>
        (await service.app.get(HealthRegistry).report()).checks['chain'];
      expect(await chainHealth()).toMatchObject({ status: 'ok' });
      harness.node.tamper(({ params }) =>
        params[0] === 'safe' ? { error: { code: -32602, message: 'unknown tag' } } : undefined,
      );
      await eventually(async () => JSON.stringify(await chainHealth()).includes('no safe block'));
      harness.node.comeBack();
      await eventually(async () => JSON.stringify(await chainHealth()).includes('ok'));
    },
    TEST_MS,
  );
});

describe('a quorum of two nodes', () => {
  it(
    'receives a payout when its block is safe for each of them',
    async () => {
      const harness = await PayoutHarness.open();
      const second = await TestNode.start(harness.chain.rpcUrl);
      try {
        await harness.chain.mine(SAFE);
        await harness.start({
          ...SETTINGS,
          CHAIN_RPC_URL: `${harness.node.url},${second.url}`,
          CHAIN_QUORUM: '2',
        });
        const user = await harness.activeUser();
        const behind = await harness.chain.rpc('eth_getBlockByNumber', ['safe', false]);
        second.tamper(safeBlock(() => behind as RawBlock));
        const { hash } = await harness.chain.transfer(user.wallet, '1');
        const id = await harness.report({ user, hash });
        await harness.chain.mine(SAFE);
        await wait(ROUNDS_MS);
        expect(await harness.outcome(id)).toBe('reported');
        second.comeBack();
        expect(await harness.settled(id)).toBe('received');
      } finally {
        await harness.close();
        await second.stop();
      }
    },
    TEST_MS,
  );
});
