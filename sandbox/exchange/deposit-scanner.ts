import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '../../src/kernel/clock.js';
import { BackgroundWork } from '../../src/platform/background/background-work.js';
import { chainRules } from '../../src/platform/chain/chain-rules.js';
import { ChainUnavailable, type Block } from '../../src/platform/chain/values.js';
import type { Config } from '../../src/platform/config/config.js';
import { urlsIn } from '../../src/platform/config/settings.js';
import { Deposits, type Place, type StoredStep } from './deposits.js';
import { DevChain } from './dev-chain.js';
import { SandboxOrders } from './sandbox-orders.js';

/** Blocks of one step; fewer once their transfers are too many for one response. */
const MAX_BLOCKS = 1000;

/** Before the first block. */
const GENESIS: Place = { number: -1, hash: '' };

/**
 * Finds transfers to deposit addresses on the dev chain (ADR 146). Each process reads on its own; a step is stored if no
 * other process stored one since it began. A reorganisation is followed back to the last block that both chains have.
 */
export class DepositScanner implements OnApplicationShutdown {
  private readonly logger = new Logger(DepositScanner.name);
  readonly chain: DevChain;
  private maxBlocks = MAX_BLOCKS;
  readonly work: BackgroundWork;

  constructor(
    config: Pick<Config, 'chainId' | 'payoutFinality' | 'exchangeScanIntervalMs'> & {
      readonly chainRpcUrl: string;
      readonly usdcAddress: string;
    },
    clock: Clock,
    private readonly deposits: Deposits,
    private readonly orders: SandboxOrders,
  ) {
    const { finality } = chainRules(config);
    const url = urlsIn(config.chainRpcUrl)[0]!;
    this.chain = new DevChain({ url, token: config.usdcAddress.toLowerCase(), finality }, clock);
    this.work = new BackgroundWork({
      name: 'scan for deposits',
      everyMs: config.exchangeScanIntervalMs,
      run: async (signal) => {
        while (!signal.aborted && (await this.step()));
      },
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.chain.close();
  }

  /** True when there is more to read at once. */
  private async step(): Promise<boolean> {
    const state = await this.deposits.state();
    const { head, final } = await this.chain.heads();
    const base = await this.forkOf(state.places, head);
    const tip = Math.max(base.number, final.number);
    const to = Math.min(tip, base.number + this.maxBlocks);
    const isCaughtUp = to === tip;
    const transfers = await this.ownTransfers(base.number + 1, isCaughtUp ? head.number : to);
    const confirmed = transfers.filter(({ blockNumber }) => blockNumber <= to);
    const blocks = await this.chain.blocks([head.number, to, ...confirmed.map((each) => each.blockNumber)]);
    const blockAt = (number: number): Block => {
      const block = blocks.get(number);
      if (block === undefined) throw new ChainUnavailable(`block ${number} is missing`);
      return block;
    };
    // Its hash stands for all blocks before it: what was read in between is of the same chain.
    if (blockAt(head.number).hash !== head.hash) return true;
    if (to === final.number && blockAt(to).hash !== final.hash)
      throw new ChainUnavailable('the final block of the node contradicts its chain');
    const older = state.places.filter(({ number }) => number <= base.number);
    const stored = await this.deposits.store(state, {
      base: base.number,
      places: to > base.number ? [{ number: to, hash: blockAt(to).hash }, ...older] : older,
      deposits: confirmed.map((each) => {
        // Blocks that are mined on demand, many in a second, run ahead of time.
        const minedAt = new Date(blockAt(each.blockNumber).timestamp * 1000);
        return { ...each, blockAt: minedAt > state.now ? state.now : minedAt };
      }),
      awaited: isCaughtUp
        ? transfers.filter(({ blockNumber }) => blockNumber > to).map(({ orderId }) => orderId)
        : null,
    });
    if (stored !== null) this.report(stored);
    return !isCaughtUp;
  }

  /** The newest place that the chain still has. */
  private async forkOf(places: readonly Place[], head: Block): Promise<Place> {
    const reached = places.filter(({ number }) => number <= head.number);
    for (const some of [reached.slice(0, 1), reached.slice(1)]) {
      const blocks = await this.chain.blocks(some.map(({ number }) => number));
      const kept = some.find(({ number, hash }) => blocks.get(number)?.hash === hash);
      if (kept !== undefined) return kept;
    }
    return GENESIS;
  }

  private async ownTransfers(from: number, to: number) {
    if (from > to) return [];
    const transfers = await this.chain.transfers(from, to).catch((error: unknown) => {
      this.maxBlocks = Math.max(1, Math.floor(this.maxBlocks / 2));
      throw error;
    });
    this.maxBlocks = Math.min(MAX_BLOCKS, this.maxBlocks * 2);
    const owners = await this.orders.ownersOf([...new Set(transfers.map((each) => each.to))]);
    return transfers.flatMap((each) => {
      const orderId = owners.get(each.to);
      return orderId === undefined || each.amountMinor === 0n ? [] : [{ ...each, orderId }];
    });
  }

  private report({ missing, replacing }: StoredStep): void {
    for (const each of missing)
      this.logger.error({ msg: 'deposit missing: its block is no longer on the chain', ...each });
    for (const each of replacing)
      this.logger.error({
        msg: 'deposit replaces a missing one: its transaction is in another block',
        ...each,
      });
  }
}
