import { Background, BackgroundWork } from '../../src/platform/jobs/background-work.js';
import type { DevChain } from './dev-chain.js';
import type { SandboxOrders } from './sandbox-orders.js';
import type { ExchangeConfig } from '../../src/contexts/exchange/exchange.config.js';

/** The number of blocks that each scan reads again. A reorganisation of the dev chain replaces fewer. */
const REREAD_BLOCKS = 256;

interface KnownTransfer {
  readonly to: string;
  readonly blockNumber: number;
}

/**
 * Polls an order as soon as a transfer to its address appears, becomes final or disappears. Scheduled polls
 * find transfers that this watch misses.
 */
export class DepositWatch {
  private known: ReadonlyMap<string, KnownTransfer> = new Map();
  private scannedTo = Infinity;
  @Background()
  readonly work: BackgroundWork;

  constructor(
    { exchangeScanIntervalMs: everyMs }: ExchangeConfig,
    private readonly chain: DevChain,
    private readonly orders: SandboxOrders,
  ) {
    this.work = new BackgroundWork({ name: 'watch for deposits', everyMs, run: () => this.scan() });
  }

  private async scan(): Promise<void> {
    const { head, final } = await this.chain.heads();
    const from = Math.max(0, Math.min(this.scannedTo, head.number, final.number) - REREAD_BLOCKS);
    const transfers = await this.chain.transfers(from, head.number);
    const found = new Map<string, KnownTransfer>(
      transfers.map((each) => [`${each.id} ${each.blockNumber <= final.number}`, each]),
    );
    const changed = [
      ...[...found].filter(([key]) => !this.known.has(key)),
      ...[...this.known].filter(([key, { blockNumber }]) => blockNumber >= from && !found.has(key)),
    ];
    await this.orders.wake([...new Set(changed.map(([, { to }]) => to))]);
    this.known = found;
    this.scannedTo = head.number;
  }
}
