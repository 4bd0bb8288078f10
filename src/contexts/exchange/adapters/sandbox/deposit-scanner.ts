import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { CLOCK, type Clock } from '../../../../kernel/clock.js';
import { BackgroundWork } from '../../../../platform/background/background-work.js';
import { chainRules, type ChainRules } from '../../../../platform/chain/chain-rules.js';
import { ChainUnavailable } from '../../../../platform/chain/chain-unavailable.js';
import { NodeList } from '../../../../platform/chain/node-list.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { urlsIn } from '../../../../platform/config/settings.js';
import { failpoint } from '../../../../platform/failpoints.js';
import { measureOnScrape } from '../../../../platform/telemetry/metrics.js';
import { scanLagBlocks, scannedTransfers, scans, scanSilence } from '../../metrics.js';
import { Deposits, type FoundTransfer, type ScanStep } from '../../store/deposits.js';
import { SandboxOrders } from '../../store/sandbox-orders.js';
import { ScanCursors, ScanLost, type ScanCursor } from '../../store/scan-cursors.js';
import { confirmLook, lookAhead, Reorganised, type ScanLook } from './scan-look.js';
import { ScanNode } from './scan-node.js';
import type { TokenTransfer } from './transfer-logs.js';

/** A process that stands still, or was killed, is relieved after so long. */
const LEASE_MS = 5000;
/** Less is no deposit, and neither is more than there is (minor units). */
const FLOOR_MINOR = 10_000n;
const CEILING_MINOR = 10n ** 21n;

type Settings = Pick<
  Config,
  | 'chainRpcUrl'
  | 'chainId'
  | 'usdcAddress'
  | 'chainQuorum'
  | 'chainMaxHeadAgeSeconds'
  | 'payoutExpiryMarginSeconds'
  | 'payoutFinality'
  | 'exchangeScanIntervalMs'
>;

/** The chain is another one than was scanned, or was reorganised deeper than is followed back. */
class ScanHalted extends Error {
  override readonly name = 'ScanHalted';
}

/**
 * Scans the chain for transfers to deposit addresses (ADR 118): one process at a time, from a place that moves in the
 * same transaction as what was found is stored in. Nothing is concluded while no node can be relied on.
 */
@Injectable()
export class DepositScanner implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger(DepositScanner.name);
  private readonly rules: ChainRules;
  private readonly nodes: NodeList<ScanNode>;
  readonly work: BackgroundWork;

  constructor(
    @Inject(CONFIG) private readonly config: Settings,
    @Inject(CLOCK) clock: Clock,
    private readonly cursors: ScanCursors,
    private readonly deposits: Deposits,
    private readonly orders: SandboxOrders,
  ) {
    const { chainId, chainRpcUrl, usdcAddress } = config;
    this.rules = chainRules(config);
    const { finality, maxHeadAgeSeconds } = this.rules;
    const urls = chainRpcUrl === null || usdcAddress === null ? [] : urlsIn(chainRpcUrl);
    const options = { chainId, finality, maxHeadAgeSeconds, token: (usdcAddress ?? '').toLowerCase() };
    this.nodes = new NodeList(urls, (url) => new ScanNode({ ...options, url }, clock));
    measureOnScrape(async () => {
      const state = await cursors.state(chainId);
      if (state !== null) scanSilence.set(state.silent_seconds);
    });
    this.work = new BackgroundWork({
      name: 'scan for deposits',
      everyMs: config.exchangeScanIntervalMs,
      run: (signal) => this.run(signal),
    });
  }

  /** Where the scan begins: before the newest final block. Throws {@link ChainUnavailable}. */
  async begin(): Promise<void> {
    const block = await this.nodes.first(async (node) => {
      const tip = Math.max(0, (await node.heads()).final.number - 1);
      return (await node.blocks([tip]))(tip);
    });
    await this.cursors.start(this.config.chainId, block);
  }

  /** Others scan at once. What is under way here may still be stored, unless they were faster. */
  beforeApplicationShutdown(): Promise<void> {
    return this.release();
  }

  onApplicationShutdown(): void {
    this.nodes.close();
  }

  private async run(signal: AbortSignal): Promise<void> {
    const { chainId } = this.config;
    try {
      while (!signal.aborted) {
        const cursor = await this.cursors.hold(chainId, LEASE_MS);
        if (cursor === null) {
          if ((await this.cursors.state(chainId)) !== null) return;
          await this.begin();
        } else if (!(await this.round(cursor))) return;
      }
    } catch (error) {
      if (error instanceof ScanLost) return void scans.inc({ outcome: 'lost' });
      if (error instanceof ChainUnavailable) scans.inc({ outcome: 'unavailable' });
      if (error instanceof ScanHalted) {
        scans.inc({ outcome: 'halted' });
        this.logger.error({ msg: 'no deposits are found', reason: error.message });
      }
      throw error;
    } finally {
      if (signal.aborted) await this.release();
    }
  }

  /** One look and what follows from it. True when there is more to look at, at once. */
  private async round(cursor: ScanCursor): Promise<boolean> {
    failpoint('scan.held');
    const keeping = setInterval(() => void this.keep(cursor), LEASE_MS / 3);
    try {
      const { step, look } = await this.nodes.first((node) => this.look(node, cursor));
      failpoint('scan.confirmed');
      const { deposits, ignored, missing } = await this.deposits.store(cursor, step);
      failpoint('scan.stored');
      scans.inc({ outcome: 'stored' });
      scannedTransfers.inc({ outcome: 'stored' }, deposits);
      scannedTransfers.inc({ outcome: 'ignored' }, ignored);
      scannedTransfers.inc({ outcome: 'missing' }, missing.length);
      for (const each of missing)
        this.logger.error({ msg: 'a confirmed deposit is no longer on the chain', ...each });
      scanLagBlocks.set(Math.max(0, look.final.number - step.scanned.number));
      return look.unconfirmed === null;
    } catch (error) {
      if (!(error instanceof Reorganised)) throw error;
      await this.goBack(cursor, error.head.number);
      return false;
    } finally {
      clearInterval(keeping);
    }
  }

  private async release(): Promise<void> {
    await this.cursors.release(this.config.chainId).catch(() => undefined);
  }

  private async keep(cursor: ScanCursor): Promise<void> {
    await this.cursors.keep(cursor, LEASE_MS).catch(() => undefined);
  }

  private async look(node: ScanNode, cursor: ScanCursor): Promise<{ step: ScanStep; look: ScanLook }> {
    const isOnDemand = this.rules.maxHeadAgeSeconds === 0;
    const look = await lookAhead(node, cursor, { finalUntil: await this.finalUntil(), isOnDemand });
    await this.agree(node, cursor, look);
    failpoint('scan.read');
    const unconfirmed = look.unconfirmed?.transfers ?? [];
    const addresses = new Set([...look.confirmed, ...unconfirmed].map(({ to }) => to));
    const owners = await this.orders.ownersOf([...addresses]);
    const own = (transfers: readonly TokenTransfer[]) =>
      transfers.flatMap((each) => {
        const orderId = owners.get(each.to);
        return orderId === undefined ? [] : [{ ...each, orderId }];
      });
    const confirmed = own(look.confirmed);
    const vanished = await this.vanished(cursor, look.scanned.number, confirmed);
    const found = await confirmLook(node, cursor, look, { confirmed, vanished });
    const { head, scanned } = look;
    const isCaughtUp = look.unconfirmed !== null;
    const seen = isCaughtUp ? head : cursor.seen.number < scanned.number ? scanned : cursor.seen;
    const marginMs = this.rules.expiryMarginSeconds * 1000;
    const toldTime = new Date(scanned.timestamp * 1000 - marginMs);
    return {
      look,
      step: {
        scanned,
        seen,
        completeUntil: !isOnDemand ? toldTime : isCaughtUp ? cursor.now : null,
        // Blocks that are mined on demand, many in a second, run ahead of time.
        deposits: found
          .filter(({ amountMinor }) => counts(amountMinor))
          .map((each) => (each.blockAt > cursor.now ? { ...each, blockAt: cursor.now } : each)),
        underWay: own(unconfirmed).filter(({ amountMinor }) => counts(amountMinor)),
        seenAgainAfter: look.unconfirmed?.after ?? Number.MAX_SAFE_INTEGER,
        ignored: confirmed.filter(({ amountMinor }) => amountMinor > 0n && !counts(amountMinor)),
      },
    };
  }

  /** Up to which height as many nodes as CHAIN_QUORUM asks for have final blocks. */
  private async finalUntil(): Promise<number> {
    const { chainQuorum } = this.config;
    if (chainQuorum === 1) return Infinity;
    const heads = await Promise.allSettled(this.nodes.all().map((node) => node.heads()));
    const heights = heads.flatMap((each) => (each.status === 'fulfilled' ? [each.value.final.number] : []));
    const height = heights.sort((a, b) => b - a)[chainQuorum - 1];
    if (height !== undefined) return height;
    throw new ChainUnavailable(`${heights.length} nodes can be relied on, and deposits need ${chainQuorum}`);
  }

  /** As many nodes as CHAIN_QUORUM asks for have to tell the same of the confirmed blocks. */
  private async agree(node: ScanNode, cursor: ScanCursor, look: ScanLook): Promise<void> {
    const { number: to } = look.scanned;
    if (this.config.chainQuorum === 1 || to === cursor.scanned.number) return;
    const told = textOf(look.confirmed);
    const others = this.nodes.all().filter((other) => other !== node);
    const agreeing = await Promise.allSettled(
      others.map(async (other) => {
        if ((await other.heads()).final.number < to) return false;
        const transfers = await other.transfers(cursor.scanned.number + 1, to);
        const { hash, timestamp } = (await other.blocks([to]))(to);
        const isSame = hash === look.scanned.hash && timestamp === look.scanned.timestamp;
        return isSame && textOf(transfers) === told;
      }),
    );
    const count = agreeing.filter((each) => each.status === 'fulfilled' && each.value).length + 1;
    if (count < this.config.chainQuorum)
      throw new ChainUnavailable(`${count} nodes agree, and deposits need ${this.config.chainQuorum}`);
  }

  private async vanished(cursor: ScanCursor, to: number, confirmed: readonly FoundTransfer[]) {
    const underWay = await this.deposits.underWay(cursor.chainId, to);
    const key = (each: Pick<FoundTransfer, 'transactionHash' | 'place'>): string =>
      `${each.transactionHash}:${each.place}`;
    const still = new Set(confirmed.map(key));
    const gone = underWay.filter((each) => !still.has(key(each)));
    if (gone.length === 0) return [];
    const orders = await this.orders.find([...new Set(gone.map(({ orderId }) => orderId))]);
    const addresses = new Map(orders.map((order) => [order.order_id, order.deposit_address.toLowerCase()]));
    return gone.flatMap(({ orderId, blockNumber: number, blockHash: hash }) => {
      const to = addresses.get(orderId);
      return to === undefined ? [] : [{ number, hash, to }];
    });
  }

  /**
   * To the last place of the cursor that is still on the chain. A dev chain of which nothing is left was set up anew, and
   * is scanned from its beginning; of any other chain that needs an operator: {@link ScanHalted}.
   */
  private async goBack(cursor: ScanCursor, head: number): Promise<void> {
    const trail = (await this.cursors.trail(cursor.chainId)).filter(({ number }) => number <= head);
    const ancestor = await this.nodes.first(async (node) => {
      const blocks = await node.blocks([0, ...trail.map(({ number }) => number)]);
      const kept = trail.find(({ number, hash }) => blocks(number).hash === hash);
      return kept ?? (this.rules.maxHeadAgeSeconds === 0 ? blocks(0) : undefined);
    });
    if (ancestor === undefined) {
      throw new ScanHalted(
        `nothing of what was scanned up to block ${cursor.scanned.number} is on the chain of CHAIN_RPC_URL any more`,
      );
    }
    await this.cursors.rewind(cursor, ancestor);
    scans.inc({ outcome: 'reorganised' });
    const depth = cursor.scanned.number - ancestor.number;
    this.logger.warn({ msg: 'the chain was reorganised: it is scanned again', from: ancestor.number, depth });
  }
}

function counts(amountMinor: bigint): boolean {
  return amountMinor >= FLOOR_MINOR && amountMinor <= CEILING_MINOR;
}

function textOf(transfers: readonly TokenTransfer[]): string {
  return JSON.stringify(transfers.map((each) => ({ ...each, amountMinor: each.amountMinor.toString() })));
}
