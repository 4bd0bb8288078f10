import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ORDER_FAILPOINTS } from '../../support/failpoints.js';
import { ExchangeClient } from '../../support/exchange/exchange-client.js';
import { TestNode } from '../../support/payouts/test-node.js';
import { checkBooks } from '../support/books.js';
import { KillHarness } from '../support/kill-harness.js';
import {
  checkMoney,
  ordersSettled,
  payShare,
  SALE,
  type Order,
  type Sent,
} from '../support/orders/order-facts.js';
import { Shared } from '../support/shared.js';
import { between, type Suite, type SuiteOptions, oneOf } from '../support/suite.js';
import type { ApiResponse } from '../../support/http/signed-client.js';
import { Senders } from '../support/senders.js';
import type { Treasury } from '../support/treasury.js';
import type { Verdict } from '../support/verdict.js';

const GIVE_UP_MS = 180_000;
const ATTEMPT_MS = 30_000;

/** A payer's transfers, in hundredths of the amount, and the merchant's action before or after them. */
interface Habit {
  readonly action: 'cancel' | 'mark_as_paid' | null;
  readonly transfers: readonly number[];
  readonly actsFirst: boolean;
}

const HABITS: readonly Habit[] = [
  { action: null, transfers: [100], actsFirst: true },
  { action: null, transfers: [100], actsFirst: true },
  { action: 'mark_as_paid', transfers: [100], actsFirst: true },
  { action: null, transfers: [40, 60], actsFirst: true },
  { action: null, transfers: [120, 30], actsFirst: true },
  { action: null, transfers: [30], actsFirst: true },
  { action: 'cancel', transfers: [100], actsFirst: true },
  { action: 'cancel', transfers: [50], actsFirst: false },
  { action: 'mark_as_paid', transfers: [], actsFirst: true },
  { action: null, transfers: [], actsFirst: true },
];

/** Merchants that create and change orders, and their payers. */
class OrderLoad extends Senders {
  readonly created: string[] = [];
  readonly sent: Sent[] = [];

  constructor(
    private readonly targets: () => readonly ExchangeClient[],
    private readonly treasury: Treasury,
    verdict: Verdict,
    pauseMs: number,
  ) {
    super(verdict, pauseMs, GIVE_UP_MS);
  }

  protected override async round(): Promise<void> {
    const { action, transfers, actsFirst } = oneOf(HABITS);
    const key = randomUUID();
    const created = await this.call('order', [201], (client) => client.order(SALE, key));
    if (created === null) return;
    const { order } = created.json<{ order: Order }>();
    this.created.push(order.id);
    if (actsFirst) await this.act(order, action);
    for (const hundredths of transfers) {
      this.sent.push(await payShare(this.treasury, order, hundredths));
      await sleep(between(0, this.pauseMs));
    }
    if (!actsFirst) await this.act(order, action);
  }

  /** Uses one key, so that a retry gets a replay instead of a 409. */
  private async act({ id }: Order, action: Habit['action']): Promise<void> {
    if (action === null) return;
    const idempotencyKey = randomUUID();
    const path = `/v1/orders/${id}/${action}`;
    await this.call(action, [200, 409], (client) =>
      client.call({ method: 'PATCH', path, signs: SALE.withdraw_address, idempotencyKey }),
    );
  }

  /** Calls any process. A stopped one does not respond, and the client uses another. */
  private call(
    what: string,
    final: readonly number[],
    send: (client: ExchangeClient) => Promise<ApiResponse>,
  ): Promise<ApiResponse | null> {
    return this.untilFinal(what, final, () => withinTime(send(oneOf(this.targets()))));
  }
}

async function withinTime<T>(call: Promise<T>): Promise<T> {
  const late = sleep(ATTEMPT_MS, undefined, { ref: false }).then(() => Promise.reject(new Error('timeout')));
  return Promise.race([call, late]);
}

const CLIENTS = 6;
const PAUSE_MS = 400;
const SETTLE_MS = 240_000;
/** One in so many kills happens while the node is unavailable. */
const OUTAGE_EVERY = 5;
const FREEZE_EVERY = 7;
const MAX_FROZEN_MS = 35_000;

/**
 * Kills the process that watches orders and scans the chain `--count` times with `kill -9`, at each failpoint
 * of an order. `--only N` kills at the Nth alone. Orders with transfers arrive at another process meanwhile.
 * The node fails, and a process is stopped for longer than its leases.
 */
export const orders: Suite = async (options) => {
  const { verdict, say, sizes = {} } = options;
  await Shared.run(async (shared) => {
    const chain = await shared.chain();
    const node = await shared.ends.start(TestNode.start(chain.rpcUrl));
    const expirySeconds = sizes.seconds ?? 8;
    const harness = new KillHarness(
      shared,
      {
        env: {
          CHAIN_RPC_URL: node.url,
          EXCHANGE_ORDER_EXPIRY_SECONDS: String(expirySeconds),
          EXCHANGE_PAID_WAIT_SECONDS: String(expirySeconds + 2),
          PAYOUT_FINALITY: '1',
          EXCHANGE_CHECK_INTERVAL_MS: '100',
          EXCHANGE_SCAN_INTERVAL_MS: '50',
          EXCHANGE_SETTLE_MS: '100',
        },
        livingRoles: 'api',
        expireLeases: [
          `update work.items set due_at = now() where kind = 'exchange.watch' and due_at > now()`,
        ],
        maxFrozenMs: MAX_FROZEN_MS,
      },
      options,
    );
    const { exchange } = await harness.open();
    const clients = (): readonly ExchangeClient[] =>
      harness.targets().map(({ baseUrl }) => new ExchangeClient(baseUrl, exchange));
    const load = new OrderLoad(clients, await shared.treasury(), verdict, PAUSE_MS);
    shared.ends.add(() => load.abandon());
    load.start(CLIENTS);
    const { created, sent } = load;
    await harness.storm({
      // The suite exchange-erasure has the failpoints of erasures.
      points: ORDER_FAILPOINTS,
      randomEvery: Infinity,
      freezeEvery: FREEZE_EVERY,
      outageEvery: OUTAGE_EVERY,
      fail: () =>
        harness.startOutage(
          'the node',
          between(2000, 20_000),
          () => node.goDown(),
          () => node.comeBack(),
        ),
      load,
      progress: () => `${created.length} orders`,
    });
    const { pool } = shared;
    await verdict.eventually(
      'every order ends, and every transfer is recorded',
      () => ordersSettled(pool, sent),
      SETTLE_MS,
    );
    await checkOrders(shared, load, options);
    await checkMoney(pool, sent, verdict, say);
    say(`audit  ${await checkBooks(shared, verdict)}`);
    await harness.terminate();
  });
};

/** Every order with a 201 exists once, here and at the provider, and no other order does. */
async function checkOrders({ pool }: Shared, load: OrderLoad, { verdict }: SuiteOptions): Promise<void> {
  const created = JSON.stringify([...load.created].sort());
  const tables = {
    events: `select substr(stream, 7) as id from event_store.events where type = 'order.created.v1'`,
    'the read model': 'select id::text from exchange.orders',
    'the provider': 'select order_id::text as id from exchange.sandbox_orders',
  };
  for (const [where, sql] of Object.entries(tables)) {
    const { rows } = await pool.query<{ id: string }>(sql);
    verdict.expect(
      JSON.stringify(rows.map(({ id }) => id).sort()) === created,
      `orders of ${where} are those that got a 201, each once`,
      { orders: rows.length, created: load.created.length },
    );
  }
}
