import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { toMinorUnits } from '../../../../src/kernel/money.js';
import { ExchangeClient } from '../../../support/exchange-client.js';
import type { ApiResponse } from '../../../support/signed-client.js';
import type { Treasury } from '../payees.js';
import { between, oneOf } from '../suite.js';
import { Tally, type Verdict } from '../verdict.js';
import type { Sent } from './order-facts.js';

const ADDRESS = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
/** A request that has no final response after this long is given up, which is a broken promise. */
const GIVE_UP_MS = 180_000;
const ATTEMPT_MS = 30_000;

interface Order {
  readonly id: string;
  readonly deposit_address: string;
  readonly amount_from: string;
  readonly expires_at: string;
}

/** What a payer does: shares of what is asked, in hundredths, one transfer each; and what the merchant does before. */
interface Habit {
  readonly action: 'cancel' | 'mark_as_paid' | null;
  readonly transfers: readonly number[];
  /** The transfers follow the action; else they go before it. */
  readonly afterwards: boolean;
}

const HABITS: readonly Habit[] = [
  { action: null, transfers: [100], afterwards: true },
  { action: null, transfers: [100], afterwards: true },
  { action: 'mark_as_paid', transfers: [100], afterwards: true },
  { action: null, transfers: [40, 60], afterwards: true },
  { action: null, transfers: [120, 30], afterwards: true },
  { action: null, transfers: [30], afterwards: true },
  { action: 'cancel', transfers: [100], afterwards: true },
  { action: 'cancel', transfers: [50], afterwards: false },
  { action: 'mark_as_paid', transfers: [], afterwards: true },
  { action: null, transfers: [], afterwards: true },
];

/** Merchants that make orders and act on them, each request again under its key until it has a final response, and their payers. */
export class OrderLoad {
  /** Ids of orders that have a 201. */
  readonly made: string[] = [];
  readonly sent: Sent[] = [];
  readonly tally = new Tally();
  private clients: Promise<void>[] = [];
  private running = true;

  constructor(
    /** The processes that there are now. */
    private readonly targets: () => readonly ExchangeClient[],
    private readonly treasury: Treasury,
    private readonly verdict: Verdict,
    private readonly pauseMs: number,
  ) {}

  start(clients: number): void {
    const failed = (error: Error): void => this.verdict.expect(false, 'a client goes on', error.stack);
    this.clients = Array.from({ length: clients }, () => this.work().catch(failed));
  }

  /** No new orders; resolves when each request under way has its final response. */
  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.clients);
  }

  private async work(): Promise<void> {
    while (this.running) {
      await this.one(oneOf(HABITS));
      await sleep(between(0, this.pauseMs));
    }
  }

  private async one({ action, transfers, afterwards }: Habit): Promise<void> {
    const key = randomUUID();
    const query = { pair_id: 'USDCSOL', withdraw_address: ADDRESS };
    const made = await this.insist('made', [201], (client) => client.order(query, key));
    if (made === null) return;
    const { order } = made.json<{ order: Order }>();
    this.made.push(order.id);
    if (afterwards) await this.act(order, action);
    for (const hundredths of transfers) {
      const minor = (toMinorUnits(order.amount_from) * BigInt(hundredths)) / 100n;
      const hash = await this.treasury.transfer(order.deposit_address, Number(minor));
      this.sent.push({ orderId: order.id, hash, minor });
      await sleep(between(0, this.pauseMs));
    }
    if (!afterwards) await this.act(order, action);
  }

  /** Under one key: a response that was lost is had again, not a 409 of one's own making. */
  private async act({ id }: Order, action: Habit['action']): Promise<void> {
    if (action === null) return;
    const idempotencyKey = randomUUID();
    const path = `/v1/orders/${id}/${action}`;
    await this.insist(action, [200, 409], (client) =>
      client.call({ method: 'PATCH', path, signs: ADDRESS, idempotencyKey }),
    );
  }

  /** Sends until there is a response with one of these statuses, to whichever process. Null when it was given up. */
  private async insist(
    what: string,
    final: readonly number[],
    send: (client: ExchangeClient) => Promise<ApiResponse>,
  ): Promise<ApiResponse | null> {
    const began = performance.now();
    for (;;) {
      const response = await withinTime(send(oneOf(this.targets()))).catch((error: NodeJS.ErrnoException) => {
        this.tally.add(error.code ?? error.message);
        return null;
      });
      if (response !== null) {
        this.tally.add(`${what} ${response.status}`);
        if (final.includes(response.status)) return response;
        if (![409, 503].includes(response.status)) {
          this.verdict.expect(false, `${what}: got ${response.status}`, response.text);
          if (response.status < 500) return null;
        }
      }
      if (performance.now() - began > GIVE_UP_MS) {
        const last = response?.text ?? 'none at all';
        this.verdict.expect(false, `${what}: no final response after ${GIVE_UP_MS / 1000} s`, last);
        return null;
      }
      await sleep(between(20, 200));
    }
  }
}

/** A process that stands still responds to nobody: the client goes elsewhere. */
async function withinTime<T>(call: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('timeout')), ATTEMPT_MS);
  });
  call.catch(() => undefined);
  return Promise.race([call, late]).finally(() => clearTimeout(timer));
}
