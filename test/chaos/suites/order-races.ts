import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { rpc } from '../../../sandbox/chain.js';
import { ORDER_STATUSES } from '../../../src/contexts/exchange/orders/order-events.js';
import { ExchangeClient } from '../../support/exchange/exchange-client.js';
import type { ApiResponse } from '../../support/http/signed-client.js';
import { checkBooks } from '../support/books.js';
import {
  checkMoney,
  historiesOf,
  ordersSettled,
  payShare,
  SALE,
  type Order,
  type Sent,
} from '../support/orders/order-facts.js';
import { Random } from '../support/random.js';
import { Shared } from '../support/shared.js';
import { chooseSeed, concurrently, seconds, type Suite, type SuiteOptions } from '../support/suite.js';
import type { Treasury } from '../support/treasury.js';
import { Tally } from '../support/verdict.js';

const EXPIRY_SECONDS = 2;
const AT_ONCE = 150;
const SETTLE_MS = 300_000;
const MAX_RETRIES = 10;
const BLOCK_MS = 200;

/** One action of a merchant, the payer or time on an order. */
interface Step {
  readonly kind: 'cancel' | 'mark_as_paid' | 'refresh' | 'deposit';
  /** Milliseconds after the creation of the order, or relative to its end. */
  readonly atMs: number;
  readonly process: 0 | 1;
  /** The share of the amount that a deposit pays, in hundredths. */
  readonly hundredths: number;
}

interface Interleaving {
  readonly atTheEnd: boolean;
  readonly steps: readonly Step[];
}

const MAX_STEPS = 8;
/** The maximum time between the first and the last step. */
const BEGINNING_MS = 60;
const END_MS = 250;
const KINDS = ['cancel', 'mark_as_paid', 'refresh', 'refresh', 'deposit', 'deposit'] as const;
/** Partial, exact and excessive payments, halves that add up, and one above the pair's maximum. */
const HUNDREDTHS = [1, 30, 50, 50, 70, 100, 100, 100, 150, 6000] as const;

function interleaving(random: Random): Interleaving {
  const atTheEnd = random.chance(0.4);
  const steps = Array.from({ length: 2 + random.below(MAX_STEPS - 1) }, (): Step => {
    const atMs = atTheEnd ? random.below(2 * END_MS) - END_MS : random.below(BEGINNING_MS);
    return {
      kind: random.pick(KINDS),
      atMs,
      process: random.chance(0.5) ? 0 : 1,
      hundredths: random.pick(HUNDREDTHS),
    };
  });
  return { atTheEnd, steps: steps.sort((a, b) => a.atMs - b.atMs) };
}

/** A response to the merchant, with times of `performance.now()`. */
interface Reply {
  readonly kind: Step['kind'];
  readonly status: number;
  readonly order: Order | null;
  readonly sentAt: number;
  readonly receivedAt: number;
}

/**
 * Plays `--count` generated interleavings, each on one order at two processes. Cancel, mark_as_paid, refresh,
 * deposits and expiry are concurrent. `--seed` determines all of it.
 */
export const orderRaces: Suite = async (options) => {
  const { count, verdict, say } = options;
  const seed = chooseSeed(options);
  await Shared.run(async (shared) => {
    const env = {
      EXCHANGE_ORDER_EXPIRY_SECONDS: String(EXPIRY_SECONDS),
      EXCHANGE_PAID_WAIT_SECONDS: String(EXPIRY_SECONDS + 1),
      EXCHANGE_CHECK_INTERVAL_MS: '100',
      EXCHANGE_SCAN_INTERVAL_MS: '50',
      EXCHANGE_SETTLE_MS: '20',
      PAYOUT_FINALITY: '2',
    };
    const services = [await shared.service('first', env), await shared.service('second', env)];
    const { exchange } = services[0]!;
    const clients = services.map(({ baseUrl }) => new ExchangeClient(baseUrl, exchange));
    const chain = await shared.chain();
    const race = new Race(clients, shared.pool, await shared.treasury(), options);
    // A deposit counts in its second block.
    const mine = (): void => void rpc(chain.rpcUrl, 'anvil_mine', ['0x1']).catch(() => undefined);
    const mining = setInterval(mine, BLOCK_MS);
    shared.ends.add(() => clearInterval(mining));
    const began = performance.now();
    await concurrently(count, AT_ONCE, (number) => race.play(new Random(seed, number), number));
    say(`played ${count} interleavings in ${seconds(performance.now() - began)}; ${race.tally.toString()}`);
    await verdict.eventually(
      'every order ends, and every deposit is recorded',
      () => ordersSettled(shared.pool, race.sent),
      SETTLE_MS,
    );
    await race.checkResponses();
    await checkMoney(shared.pool, race.sent, verdict, say);
    say(`audit  ${await checkBooks(shared, verdict)}`);
    for (const each of services) verdict.equal(each.exited(), null, 'both processes live');
  });
};

class Race {
  readonly sent: Sent[] = [];
  readonly tally = new Tally();
  private readonly replies = new Map<string, readonly Reply[]>();

  constructor(
    private readonly clients: readonly ExchangeClient[],
    private readonly pool: pg.Pool,
    private readonly treasury: Treasury,
    private readonly options: SuiteOptions,
  ) {}

  async play(random: Random, number: number): Promise<void> {
    const { atTheEnd, steps } = interleaving(random);
    const key = randomUUID();
    const { response: created } = await this.retried('order', () =>
      this.clients[number % 2]!.order(SALE, key),
    );
    if (created.status !== 201)
      return this.options.verdict.expect(false, `an order got ${created.status}`, created.text);
    const { order } = created.json<{ order: Order }>();
    const start = atTheEnd
      ? performance.now() + Date.parse(order.expires_at) - Date.now()
      : performance.now();
    const replies = await Promise.all(
      steps.map(async (step) => {
        await sleep(Math.max(0, start + step.atMs - performance.now()));
        return step.kind === 'deposit' ? this.deposit(order, step) : this.act(order, step.kind, step.process);
      }),
    );
    this.replies.set(
      order.id,
      replies.flatMap((each) => each ?? []),
    );
  }

  private async act({ id }: Order, kind: Exclude<Step['kind'], 'deposit'>, at: 0 | 1): Promise<Reply> {
    const { response, sentAt } = await this.retried(kind, () =>
      this.clients[at]!.act(id, kind, SALE.withdraw_address),
    );
    const { status } = response;
    return { kind, status, order: orderOf(response), sentAt, receivedAt: performance.now() };
  }

  /** Retries a 503 after its Retry-After, as merchants do. */
  private async retried(name: string, send: () => Promise<ApiResponse>) {
    for (let left = MAX_RETRIES; ; left -= 1) {
      const sentAt = performance.now();
      const response = await send();
      this.tally.add(`${name} ${response.status}`);
      const retryAfter = Number(response.headers['retry-after']);
      if (response.status !== 503 || !(retryAfter > 0) || left === 0) return { response, sentAt };
      await sleep(retryAfter * 1000);
    }
  }

  /** Broadcasts a deposit, which is pending until the next block. */
  private async deposit(order: Order, step: Step): Promise<null> {
    this.tally.add('deposit');
    this.sent.push(await payShare(this.treasury, order, step.hundredths));
    return null;
  }

  /** Every response has a status of the order's history, and no response is older than an earlier one. */
  async checkResponses(): Promise<void> {
    const { verdict } = this.options;
    const histories = await historiesOf(this.pool);
    const all = [...this.replies].map(([id, replies]) => ({
      id,
      replies,
      history: histories.get(id) ?? new Set(),
    }));
    const rules: Readonly<Record<string, (reply: Reply, history: ReadonlySet<unknown>) => boolean>> = {
      'a response is neither 200 nor, of an action, 409': ({ kind, status }) =>
        !(status === 200 || (status === 409 && kind !== 'refresh')),
      'a response has a status that the order never had': ({ order }, history) =>
        order !== null && !history.has(order.status),
      'a cancel is 200, and the order was not cancelled': ({ kind, status }, history) =>
        kind === 'cancel' && status === 200 && !history.has('cancelled'),
      'mark_as_paid is 200, and the order was not paid': ({ kind, status }, history) =>
        kind === 'mark_as_paid' && status === 200 && !history.has('paid'),
    };
    for (const [fact, isBroken] of Object.entries(rules))
      verdict.none(
        fact,
        all.flatMap(({ id, replies, history }) =>
          replies.filter((each) => isBroken(each, history)).map((each) => [id, each]),
        ),
      );
    const cancels = (replies: readonly Reply[]): number =>
      replies.filter(({ kind, status }) => kind === 'cancel' && status === 200).length;
    verdict.none(
      'an order is cancelled without a 200, or with two',
      all,
      ({ replies, history }) => cancels(replies) !== (history.has('cancelled') ? 1 : 0),
    );
    verdict.none('a response has an order as it was before an earlier response', all, ({ replies }) =>
      replies.some((later) => replies.some((earlier) => isBehind(later, earlier))),
    );
  }
}

function isBehind(later: Reply, earlier: Reply): boolean {
  if (later.order === null || earlier.order === null || later.sentAt < earlier.receivedAt) return false;
  return rank(later.order) < rank(earlier.order);
}

const rank = ({ status }: Order): number =>
  Math.min(ORDER_STATUSES.indexOf(status), ORDER_STATUSES.indexOf('completed'));

const orderOf = (response: ApiResponse): Order | null =>
  response.status === 200 ? response.json<{ order: Order }>().order : null;
