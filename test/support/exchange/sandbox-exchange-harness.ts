import { randomBytes } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { DepositWatch } from '../../../sandbox/exchange/deposit-watch.js';
import { DevChain } from '../../../sandbox/exchange/dev-chain.js';
import { SandboxOrders } from '../../../sandbox/exchange/sandbox-orders.js';
import { SandboxProvider } from '../../../sandbox/exchange/sandbox-provider.js';
import { readConfig } from '../../../src/composition.js';
import type { AgreedOrder } from '../../../src/contexts/exchange/providers/exchange-provider.ports.js';
import { systemClock } from '../../../src/kernel/clock.js';
import { newId } from '../../../src/kernel/ids.js';
import { Sealer } from '../../../src/platform/sealing/sealer.js';
import { TestChain } from '../payouts/chain.js';
import { testDatabase, type TestDatabase } from '../postgres.js';
import { TestNode } from '../payouts/test-node.js';
import { ADDRESS } from './order-fixtures.js';

export interface TestOrder extends Pick<AgreedOrder, 'order_id' | 'provider_reference'> {
  readonly address: string;
}

/** The sandbox provider with a separate database and chain, behind a node that can fail. */
export class SandboxExchangeHarness {
  private readonly sealer = new Sealer(randomBytes(32));
  private readonly chains: DevChain[] = [];
  private watches: DepositWatch[] = [];
  readonly provider: SandboxProvider;

  private constructor(
    readonly chain: TestChain,
    readonly node: TestNode,
    readonly db: TestDatabase,
    private readonly settings: Readonly<Record<string, string>>,
  ) {
    this.provider = this.open();
  }

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<SandboxExchangeHarness> {
    Logger.overrideLogger(false);
    const [chain, db] = await Promise.all([TestChain.start(), testDatabase({ poolSize: 4 })]);
    return new SandboxExchangeHarness(chain, await TestNode.start(chain.rpcUrl), db, settings);
  }

  /** Opens the provider as another process. */
  open(): SandboxProvider {
    const { chain, orders, config } = this.parts();
    return new SandboxProvider(config, systemClock, orders, chain, this.sealer);
  }

  watch(): void {
    const { chain, orders, config } = this.parts();
    const watch = new DepositWatch(config, chain, orders);
    watch.work.start();
    this.watches.push(watch);
  }

  async order(): Promise<TestOrder> {
    const order_id = newId();
    const { provider_reference, deposit_address: address } = await this.provider.create({
      order_id,
      pair_id: 'USDCSOL',
      amount_from: null,
      withdraw_address: ADDRESS,
      withdraw_address_tag: null,
      withdraw_address_memo: null,
    });
    return { order_id, provider_reference, address };
  }

  async amounts(order: TestOrder): Promise<readonly string[]> {
    return (await this.provider.status(order)).deposits.map(({ amount }) => amount);
  }

  async close(): Promise<void> {
    await Promise.all(this.watches.map(({ work }) => work.stop()));
    await Promise.all(this.chains.map((chain) => chain.close()));
    await Promise.all([this.node.stop(), this.chain.stop()]);
    await this.db.drop();
  }

  private parts() {
    const config = readConfig({
      EXCHANGE_SCAN_INTERVAL_MS: '20',
      EXCHANGE_SETTLE_MS: '50',
      ...this.settings,
    });
    const { usdcAddress } = this.chain;
    const chain = new DevChain({ ...config, chainRpcUrl: this.node.url, usdcAddress }, systemClock);
    this.chains.push(chain);
    return { chain, config, orders: new SandboxOrders(this.db.database) };
  }
}
