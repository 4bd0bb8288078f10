import { randomBytes } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { DepositScanner } from '../../sandbox/exchange/deposit-scanner.js';
import { Deposits } from '../../sandbox/exchange/deposits.js';
import { SandboxOrders } from '../../sandbox/exchange/sandbox-orders.js';
import { SandboxProvider } from '../../sandbox/exchange/sandbox-provider.js';
import type { ProviderReference, ProviderStatus } from '../../src/contexts/exchange/application/ports.js';
import { systemClock } from '../../src/kernel/clock.js';
import { newId } from '../../src/kernel/ids.js';
import { readConfig } from '../../src/composition.js';
import { Database } from '../../src/platform/postgres/database.js';
import { Sealer } from '../../src/platform/sealing/sealer.js';
import { TestChain } from './chain.js';
import { eventually } from './eventually.js';
import { testDatabase, type TestDatabase } from './postgres.js';
import { TestNode } from './test-node.js';

export const SOLANA_ADDRESS = 'So11111111111111111111111111111111111111112';

/** The sandbox provider and its scan as one process has them. */
export interface ScanProcess {
  readonly provider: SandboxProvider;
  readonly scanner: DepositScanner;
  readonly deposits: Deposits;
  stop(): Promise<void>;
}

export interface LabOrder extends ProviderReference {
  readonly address: string;
}

interface StartOptions {
  readonly isScanning?: boolean;
  readonly databaseUrl?: string;
}

/** A database and a chain of one's own behind a node that can fail, and as many scanning processes as one likes. */
export class ScanLab {
  private readonly processes: ScanProcess[] = [];
  private readonly sealer = new Sealer(randomBytes(32));
  private scanning: ScanProcess | null = null;

  private constructor(
    readonly chain: TestChain,
    readonly node: TestNode,
    readonly db: TestDatabase,
  ) {}

  static async open(): Promise<ScanLab> {
    Logger.overrideLogger(false);
    const [chain, db] = await Promise.all([TestChain.start(), testDatabase({ poolSize: 4 })]);
    return new ScanLab(chain, await TestNode.start(chain.rpcUrl), db);
  }

  /**
   * A process; `isScanning` false: it asks and is asked, and leaves the scan to others. `databaseUrl`: its own way to the
   * database.
   */
  async start(
    settings: Readonly<Record<string, string>> = {},
    { isScanning = true, databaseUrl = this.db.url }: StartOptions = {},
  ): Promise<ScanProcess> {
    const config = readConfig({
      EXCHANGE_SCAN_INTERVAL_MS: '20',
      EXCHANGE_SETTLE_MS: '50',
      ...settings,
    });
    const database = await Database.connect({ url: databaseUrl, poolSize: 4, limited: true });
    const deposits = new Deposits(database);
    const orders = new SandboxOrders(database);
    const chain = { chainRpcUrl: this.node.url, usdcAddress: this.chain.usdcAddress };
    const scanner = new DepositScanner({ ...config, ...chain }, systemClock, deposits, orders);
    const provider = new SandboxProvider(config, systemClock, orders, deposits, scanner.chain, this.sealer);
    if (isScanning) scanner.work.start();
    let stopped: Promise<void> | null = null;
    const stop = (): Promise<void> =>
      (stopped ??= scanner.work.stop().then(async () => {
        await scanner.onApplicationShutdown();
        await database.close();
      }));
    const process = { provider, scanner, deposits, stop };
    this.processes.push(process);
    return process;
  }

  /** The process that scans. */
  get scan(): ScanProcess {
    if (this.scanning === null) throw new Error('no process scans');
    return this.scanning;
  }

  /** Another process in place of all that there are. */
  async restart(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.stopAll();
    await this.startScan(settings);
  }

  /** Another process beside those that there are: {@link scan} from now on. */
  async startScan(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    this.scanning = await this.start(settings);
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.stop()));
  }

  async order({ provider }: ScanProcess): Promise<LabOrder> {
    const orderId = newId();
    const { reference, depositAddress: address } = await provider.create({
      orderId,
      pairId: 'USDCSOL',
      amountFrom: null,
      withdrawAddress: SOLANA_ADDRESS,
      withdrawAddressTag: null,
      withdrawAddressMemo: null,
    });
    return { orderId, reference, address };
  }

  /** Waits until the status of an order is so, and gives it. */
  async until(
    { provider }: ScanProcess,
    order: LabOrder,
    found: (status: ProviderStatus) => boolean,
  ): Promise<ProviderStatus> {
    return eventually(async () => {
      const status = await provider.status(order);
      return found(status) && status;
    });
  }

  /** Waits until the scan has stored a look that began after now, up to the newest block. */
  async caughtUp(): Promise<void> {
    const began = await this.databaseTime();
    await eventually(async () => {
      const [row] = await this.db.database.query<{ is_new: boolean }>(
        'select complete_until > $1::timestamptz as is_new from exchange.sandbox_scan',
        [began],
      );
      return row?.is_new === true;
    });
  }

  async deposits(): Promise<readonly { readonly order_id: string; readonly amount_minor: string }[]> {
    return this.db.database.query(
      'select order_id, amount_minor::text from exchange.deposits where missing_since is null',
    );
  }

  async close(): Promise<void> {
    await this.stopAll();
    await Promise.all([this.node.stop(), this.chain.stop()]);
    await this.db.drop();
  }

  private async databaseTime(): Promise<string> {
    const [row] = await this.db.database.query<{ now: string }>('select clock_timestamp()::text as now');
    return row!.now;
  }
}
