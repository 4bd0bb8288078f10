import { setTimeout as sleep } from 'node:timers/promises';
import { lastWords, ready } from '../../../bench/support/children.js';
import { eventually } from '../../../bench/support/wait.js';
import { until } from '../../../sandbox/processes.js';
import { ORDER_FAILPOINTS } from '../../../src/contexts/exchange/failpoints.js';
import { ExchangeClient } from '../../support/exchange-client.js';
import { TestNode } from '../../support/test-node.js';
import { runAudit } from '../support/audit.js';
import { checkMoney, ordersSettled } from '../support/orders/order-facts.js';
import { OrderLoad } from '../support/orders/order-load.js';
import { Treasury } from '../support/payees.js';
import { Shared } from '../support/shared.js';
import { between, seconds, type Suite, type SuiteOptions } from '../support/suite.js';

/** Those of erasures are reached by no order on its way: exchange-erasure-kill kills there. */
const POINTS: readonly string[] = ORDER_FAILPOINTS;
const CLIENTS = 6;
const PAUSE_MS = 400;
/** A killed process keeps others from an order for 30 s, and from the scan for 15 s. */
const REACHED_WITHIN_MS = 120_000;
const SETTLE_MS = 240_000;
/** One kill in so many finds the node unavailable; after so many the process stands still for a while. */
const NODE_AWAY_EVERY = 5;
const STANDS_STILL_EVERY = 7;

/**
 * `kill -9` of the process that watches orders and scans the chain at each named point of their way, `--count` times
 * (`--only N`: at the Nth alone), under a load of orders with transfers on the chain, while another process goes on taking requests. In between the node
 * is away, and a process stands still for longer than its leases hold.
 */
export const orders: Suite = async (options) => {
  const { count, verdict, say, sizes = {} } = options;
  const shared = await Shared.start();
  const chain = await shared.chain();
  const node = await TestNode.start(chain.rpcUrl);
  const stage = new Stage(shared, node, options);
  let load: OrderLoad | null = null;
  try {
    await stage.open();
    load = new OrderLoad(() => stage.clients(), await Treasury.of(chain), verdict, PAUSE_MS);
    load.start(CLIENTS);
    // Few kills begin anywhere: many runs of few kills see every point.
    const first = Math.floor(Math.random() * POINTS.length);
    for (let n = 1; n <= count; n += 1) {
      if (n % STANDS_STILL_EVERY === 0) say(`     ${await stage.standStill()}; ${load.made.length} orders`);
      const away = n % NODE_AWAY_EVERY === 0 ? stage.nodeAway() : null;
      const line = await stage.killAt(
        POINTS[sizes.only === undefined ? (first + n) % POINTS.length : (sizes.only - 1) % POINTS.length]!,
      );
      say(`${String(n).padStart(3)}  ${line}; ${load.made.length} orders`);
      await away;
    }
    await load.stop();
    await stage.replace({});
    const began = performance.now();
    const { pool } = shared;
    const sent = load.sent;
    await eventually(
      'every order has its end, and every transfer is recorded',
      () => ordersSettled(pool, sent),
      SETTLE_MS,
    ).catch((error: Error) => verdict.expect(false, error.message));
    say(`settled ${seconds(performance.now() - began)} after the last kill; ${load.tally.toString()}`);
    await checkOrders(shared, load, options);
    await checkMoney(pool, sent, verdict, say);
    say(`audit  ${await runAudit(await shared.databaseUrl(), verdict)}`);
    await stage.leave();
  } finally {
    await load?.stop();
    await node.stop();
    await shared.close();
  }
};

/** Every order that got a 201 is there, once, here and at the provider; and no other is. */
async function checkOrders({ pool }: Shared, load: OrderLoad, { verdict }: SuiteOptions): Promise<void> {
  const ids = async (sql: string): Promise<readonly string[]> => {
    const { rows } = await pool.query<{ id: string }>(sql);
    return rows.map(({ id }) => id).sort();
  };
  const made = JSON.stringify([...load.made].sort());
  const created = await ids(
    `select substr(stream, 7) as id from event_store.events where type = 'order.created.v1'`,
  );
  verdict.expect(JSON.stringify(created) === made, 'orders made are those that got a 201, each once', {
    created: created.length,
    made: load.made.length,
  });
  const shown = await ids('select id::text from exchange.orders');
  verdict.expect(JSON.stringify(shown) === made, 'orders shown are those that got a 201', shown.length);
  const provided = await ids('select order_id::text as id from exchange.sandbox_orders');
  verdict.expect(JSON.stringify(provided) === made, 'so are those of the provider', provided.length);
}

/** One process that takes requests and lives, and one that does all there is to do and is killed over and over. */
class Stage {
  private readonly env: Readonly<Record<string, string>>;
  private readonly targets = new Map<string, ExchangeClient>();
  private folder = 'victim';
  private victim: Awaited<ReturnType<Shared['spawn']>> | null = null;
  private living: Awaited<ReturnType<Shared['spawn']>> | null = null;
  private key: { readonly apiKey: string; readonly secret: string } | null = null;

  constructor(
    private readonly shared: Shared,
    private readonly node: TestNode,
    private readonly options: SuiteOptions,
  ) {
    const expirySeconds = options.sizes?.seconds ?? 8;
    this.env = {
      CHAIN_RPC_URL: node.url,
      EXCHANGE_ORDER_EXPIRY_SECONDS: String(expirySeconds),
      EXCHANGE_PAID_WAIT_SECONDS: String(expirySeconds + 2),
      PAYOUT_FINALITY: '1',
      EXCHANGE_CHECK_INTERVAL_MS: '100',
      EXCHANGE_SCAN_INTERVAL_MS: '50',
      EXCHANGE_SETTLE_MS: '100',
    };
  }

  async open(): Promise<void> {
    const first = await this.shared.service('victim', this.env);
    const { api_key: apiKey, secret } = first.exchange;
    this.key = { apiKey, secret };
    this.living = await this.shared.spawn('living', { ...this.env, ROLES: 'api' });
    this.targets.set('living', this.client(this.living.port));
    await first.child.stop();
  }

  clients(): readonly ExchangeClient[] {
    return [...this.targets.values()];
  }

  async killAt(point: string): Promise<string> {
    const began = performance.now();
    const { child } = await this.replace({ FAILPOINT: point });
    await until(() => child.exited() !== null, REACHED_WITHIN_MS);
    this.options.verdict.equal(child.exited(), 'signal SIGKILL', `killed at ${point}: its end`);
    this.targets.delete('victim');
    await this.leasesRunOut();
    return `${point.padEnd(22)} reached after ${seconds(performance.now() - began)}`;
  }

  /** A new process in the place of the old one, which is killed if it lives. */
  async replace(env: Readonly<Record<string, string>>): Promise<NonNullable<Stage['victim']>> {
    this.kill();
    // In a folder that no living process has.
    this.folder = this.folder === 'victim' ? 'other' : 'victim';
    this.victim = await this.shared.spawn(this.folder, { ...this.env, ...env });
    this.targets.set('victim', this.client(this.victim.port));
    return this.victim;
  }

  /** Stands still for longer or shorter than its leases hold, while another does its work; then both go on for a while. */
  async standStill(): Promise<string> {
    const { child, port } = await this.replace({});
    // One that only starts may end for want of its database, as it should.
    await ready(child, `http://127.0.0.1:${port}/health/ready`);
    await sleep(between(100, 2000));
    process.kill(child.pid, 'SIGSTOP');
    this.victim = null;
    await this.replace({});
    const ms = between(1000, 35_000);
    await sleep(ms);
    process.kill(child.pid, 'SIGCONT');
    await sleep(between(500, 3000));
    const { verdict } = this.options;
    verdict.expect(child.exited() === null, 'a process that stood still goes on', lastWords(child.log));
    if (child.exited() === null) process.kill(child.pid, 'SIGKILL');
    return `a process stood still for ${seconds(ms)}`;
  }

  async nodeAway(): Promise<void> {
    this.node.goDown();
    const ms = between(2000, 20_000);
    await sleep(ms);
    this.node.comeBack();
    this.options.say(`     the node was away for ${seconds(ms)}`);
  }

  async leave(): Promise<void> {
    for (const each of [this.victim, this.living]) {
      await each!.child.stop();
      const end = each!.child.exited();
      this.options.verdict.expect(end === 'exit code 0', 'SIGTERM ends a process', end);
    }
  }

  private kill(): void {
    const pid = this.victim?.child.exited() === null ? this.victim.child.pid : null;
    if (pid !== null) process.kill(pid, 'SIGKILL');
  }

  /** Where nobody wants to wait for them: as if their time had passed. */
  private async leasesRunOut(): Promise<void> {
    const ms = this.options.sizes?.['lease-ms'];
    if (ms === undefined) return;
    await sleep(ms);
    await this.shared.pool.query(
      `update work.items set due_at = now() where kind = 'exchange.watch' and due_at > now()`,
    );
  }

  private client(port: number): ExchangeClient {
    return new ExchangeClient(`http://127.0.0.1:${port}`, this.key!);
  }
}
