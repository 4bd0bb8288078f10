import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { HealthRegistry } from '../../src/platform/telemetry/health.js';
import { expiryReason } from '../../src/contexts/payouts/domain/verification.js';
import type { Service } from '../../src/service.js';
import { eventually } from '../support/eventually.js';
import { PayoutLab, type LabUser } from '../support/payout-lab.js';
import { TestNode, type Tampering } from '../support/test-node.js';

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
  let lab: PayoutLab;
  let user: LabUser;
  let service: Service;

  beforeAll(async () => {
    lab = await PayoutLab.open();
    await lab.chain.mine(SAFE);
    service = await lab.start(SETTINGS);
    user = await lab.activeUser();
  });
  afterEach(() => lab.node.comeBack());
  afterAll(() => lab.close());

  const paid = async (windowSeconds?: number): Promise<string> => {
    const { hash } = await lab.chain.transfer(user.wallet, '1');
    return lab.report({ user, hash, windowSeconds });
  };
  /** Mines blocks later than every window here, and as many more as make them safe. */
  const passWindows = async (): Promise<void> => {
    await lab.chain.rpc('evm_increaseTime', [60]);
    await lab.chain.mine(SAFE + 2);
  };
  const safe = (): Promise<RawBlock> =>
    lab.chain.rpc('eth_getBlockByNumber', ['safe', false]) as Promise<RawBlock>;

  it(
    'receives a payout when its block is safe, and not one block earlier',
    async () => {
      const id = await paid();
      await lab.found(id, 'confirming');
      await lab.chain.mine(SAFE - 1);
      await wait(ROUNDS_MS);
      expect(await lab.outcome(id)).toBe('reported');
      await lab.chain.mine(1);
      expect(await lab.settled(id)).toBe('received');
    },
    TEST_MS,
  );

  it(
    'expires a payout by the time of the safe block, not of the newest one',
    async () => {
      const id = await lab.report({ user, hash: `0x${'ab'.repeat(32)}`, windowSeconds: 1 });
      await lab.chain.rpc('evm_increaseTime', [60]);
      await lab.chain.mine(SAFE - 1);
      await wait(ROUNDS_MS);
      expect(await lab.outcome(id)).toBe('reported');
      const mining = setInterval(() => void lab.chain.mine(1), 500);
      try {
        expect(await lab.settled(id)).toBe(expiryReason({ kind: 'not_found' }));
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
      lab.node.tamper(safeBlock(() => stuck));
      const [there, missing] = [
        await paid(1),
        await lab.report({ user, hash: `0x${'ac'.repeat(32)}`, windowSeconds: 1 }),
      ];
      await passWindows();
      await wait(ROUNDS_MS);
      expect([await lab.outcome(there), await lab.outcome(missing)]).toEqual(['reported', 'reported']);
      lab.node.comeBack();
      const mining = setInterval(() => void lab.chain.mine(1), 500);
      try {
        expect(await lab.settled(there)).toBe('received');
        expect(await lab.settled(missing)).toBe(expiryReason({ kind: 'not_found' }));
      } finally {
        clearInterval(mining);
      }
    },
    TEST_MS,
  );

  it(
    'whose safe head went back receives a payout by where the head is now',
    async () => {
      await lab.chain.mine(SAFE);
      const old = (await lab.chain.rpc('eth_getBlockByNumber', ['0x20', false])) as RawBlock;
      lab.node.tamper(safeBlock(() => old));
      const id = await paid(1);
      await passWindows();
      await wait(ROUNDS_MS);
      expect(await lab.outcome(id)).toBe('reported');
      lab.node.comeBack();
      expect(await lab.settled(id)).toBe('received');
    },
    TEST_MS,
  );

  it(
    'whose sequencer takes a transfer back before it is safe receives nothing',
    async () => {
      const id = await paid(1);
      await lab.found(id, 'confirming');
      await lab.chain.mine(SAFE - 2);
      await lab.chain.reorg(SAFE - 1);
      await passWindows();
      const mining = setInterval(() => void lab.chain.mine(1), 500);
      try {
        expect(await lab.settled(id)).toBe(expiryReason({ kind: 'not_found' }));
      } finally {
        clearInterval(mining);
      }
    },
    TEST_MS,
  );

  it.each<[string, (newest: RawBlock) => Tampering]>([
    [
      'has another hash than the chain at its height',
      ({ number, hash }) =>
        safeBlock(() => ({ number: `0x${(Number(number) - 1).toString(16)}`, hash, timestamp: '0x1' })),
    ],
    [
      'is above the newest one',
      ({ number, ...rest }) =>
        safeBlock(() => ({ ...rest, number: `0x${(Number(number) + 50).toString(16)}` })),
    ],
    [
      'is of the future',
      (newest) => safeBlock((block) => ({ ...block, number: newest.number, timestamp: '0xffffffff' })),
    ],
    ['is unknown', () => safeBlock(() => null)],
  ])(
    'whose node names a safe block that %s ends nothing',
    async (_name, lie) => {
      const id = await paid(1);
      await lab.chain.rpc('evm_increaseTime', [60]);
      await lab.chain.mine(2);
      const newest = (await lab.chain.rpc('eth_getBlockByNumber', ['latest', false])) as RawBlock;
      lab.node.tamper(lie(newest));
      await wait(ROUNDS_MS);
      expect(await lab.outcome(id)).toBe('reported');
      lab.node.comeBack();
      await lab.chain.mine(SAFE);
      expect(await lab.settled(id)).toBe('received');
    },
    TEST_MS,
  );

  it(
    'is not ready while its node does not know the tag, and says why',
    async () => {
      const chainHealth = async (): Promise<unknown> =>
        (await service.app.get(HealthRegistry).report()).checks['chain'];
      expect(await chainHealth()).toMatchObject({ status: 'ok' });
      lab.node.tamper(({ params }) =>
        params[0] === 'safe' ? { error: { code: -32602, message: 'unknown tag' } } : undefined,
      );
      await eventually(async () => JSON.stringify(await chainHealth()).includes('no safe block'));
      lab.node.comeBack();
      await eventually(async () => JSON.stringify(await chainHealth()).includes('ok'));
    },
    TEST_MS,
  );
});

describe('a quorum of two nodes', () => {
  it(
    'receives a payout when its block is safe for each of them',
    async () => {
      const lab = await PayoutLab.open();
      const second = await TestNode.start(lab.chain.rpcUrl);
      try {
        await lab.chain.mine(SAFE);
        await lab.start({ ...SETTINGS, CHAIN_RPC_URL: `${lab.node.url},${second.url}`, CHAIN_QUORUM: '2' });
        const user = await lab.activeUser();
        const behind = await lab.chain.rpc('eth_getBlockByNumber', ['safe', false]);
        second.tamper(safeBlock(() => behind as RawBlock));
        const { hash } = await lab.chain.transfer(user.wallet, '1');
        const id = await lab.report({ user, hash });
        await lab.chain.mine(SAFE);
        await wait(ROUNDS_MS);
        expect(await lab.outcome(id)).toBe('reported');
        second.comeBack();
        expect(await lab.settled(id)).toBe('received');
      } finally {
        await lab.close();
        await second.stop();
      }
    },
    TEST_MS,
  );
});
