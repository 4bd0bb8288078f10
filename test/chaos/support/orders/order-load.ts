import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { toMinorUnits } from '../../../../src/kernel/money.js';
import type { ExchangeClient } from '../../../support/exchange/exchange-client.js';
import type { ApiResponse } from '../../../support/http/signed-client.js';
import { Senders } from '../senders.js';
import { between, oneOf } from '../suite.js';
import type { Treasury } from '../treasury.js';
import type { Verdict } from '../verdict.js';
import { SALE, type Order, type Sent } from './order-facts.js';

const GIVE_UP_MS = 180_000;
const ATTEMPT_MS = 30_000;

/** A payer's transfers, in hundredths of the amount, and the merchant's action before or after them. */
interface Habit {
  readonly action: 'cancel' | 'mark_as_paid' | null;
  readonly transfers: readonly number[];
  /** The action precedes the transfers. */
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

/** Merchants that create orders and act on them, and their payers. */
export class OrderLoad extends Senders {
  /** The orders with a 201. */
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
      const minor = (toMinorUnits(order.amount_from) * BigInt(hundredths)) / 100n;
      const hash = await this.treasury.transfer(order.deposit_address, Number(minor));
      this.sent.push({ orderId: order.id, hash, minor });
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
