import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { eventually } from '../../../bench/support/wait.js';
import { rpc } from '../../../sandbox/chain.js';
import { ORDER_STATUSES, type OrderStatus } from '../../../src/contexts/exchange/domain/order-events.js';
import { toMinorUnits } from '../../../src/kernel/money.js';
import { ExchangeClient } from '../../support/exchange-client.js';
import type { ApiResponse } from '../../support/signed-client.js';
import { runAudit } from '../support/audit.js';
import { Random } from '../support/fuzz/random.js';
import { interleaving, type Step } from '../support/orders/interleaving.js';
import { checkMoney, historiesOf, ordersSettled, type Sent } from '../support/orders/order-facts.js';
import { Treasury } from '../support/payees.js';
import { Shared } from '../support/shared.js';
import { seconds, type Suite, type SuiteOptions } from '../support/suite.js';
import { Tally } from '../support/verdict.js';

/** How long an order waits for its deposit, and how many are under way at once. */
const EXPIRY_SECONDS = 2;
const AT_ONCE = 150;
const ADDRESS = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
const SETTLE_MS = 300_000;
const MAX_RETRIES = 10;
const BLOCK_MS = 200;

interface Order {
  readonly id: string;
  readonly status: OrderStatus;
  readonly amount_from: string;
  readonly deposit_address: string;
  readonly expires_at: string;
}

/** A response to a merchant about an order; times are of `performance.now()`. */
interface Told {
  readonly kind: Step['kind'];
  readonly status: number;
  readonly order: Order | null;
  readonly askedAt: number;
  readonly toldAt: number;
}

/**
 * `--count` generated interleavings: cancel, mark_as_paid, refresh, deposits (pending at first) and the expiry meet on one
 * order each, half at one process and half at another. All of it follows from `--seed`.
 */
export const orderRaces: Suite = async (options) => {
  const { count, verdict, say, sizes = {} } = options;
  const seed = sizes.seed ?? randomInt(1, 2 ** 31);
  say(`seed   ${seed}`);
  const shared = await Shared.start();
  let mining: NodeJS.Timeout | undefined;
  try {
    const env = {
      EXCHANGE_ORDER_EXPIRY_SECONDS: String(EXPIRY_SECONDS),
      EXCHANGE_PAID_WAIT_SECONDS: String(EXPIRY_SECONDS + 1),
      EXCHANGE_CHECK_INTERVAL_MS: '100',
      EXCHANGE_SCAN_INTERVAL_MS: '50',
      EXCHANGE_SETTLE_MS: '20',
      PAYOUT_FINALITY: '2',
    };
    const services = [await shared.service('first', env), await shared.service('second', env)];
    const { api_key: apiKey, secret } = services[0]!.exchange;
    const clients = services.map(({ baseUrl }) => new ExchangeClient(baseUrl, { apiKey, secret }));
    const chain = await shared.chain();
    const race = new Race(clients, shared.pool, await Treasury.of(chain), options);
    // A deposit counts in its second block.
    mining = setInterval(
      () => void rpc(chain.rpcUrl, 'anvil_mine', ['0x1']).catch(() => undefined),
      BLOCK_MS,
    );
    const began = performance.now();
    let next = 1;
    const worker = async (): Promise<void> => {
      while (next <= count) {
        const number = next++;
        await race.play(new Random(seed, number), number);
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, worker));
    say(`played ${count} interleavings in ${seconds(performance.now() - began)}; ${race.tally.toString()}`);
    await eventually(
      'every order has its end, and every deposit is recorded',
      () => ordersSettled(shared.pool, race.sent),
      SETTLE_MS,
    ).catch((error: Error) => verdict.expect(false, error.message));
    say(`settled ${seconds(performance.now() - began)} after the first order`);
    await race.checkResponses();
    await checkMoney(shared.pool, race.sent, verdict, say);
    say(`audit  ${await runAudit(await shared.databaseUrl(), verdict)}`);
    for (const { child } of services) verdict.equal(child.exited(), null, 'both processes live');
  } finally {
    clearInterval(mining);
    await shared.close();
  }
};

class Race {
  readonly sent: Sent[] = [];
  readonly tally = new Tally();
  private readonly told = new Map<string, readonly Told[]>();

  constructor(
    private readonly clients: readonly ExchangeClient[],
    private readonly pool: pg.Pool,
    private readonly treasury: Treasury,
    private readonly options: SuiteOptions,
  ) {}

  async play(random: Random, number: number): Promise<void> {
    const { atTheEnd, steps } = interleaving(random);
    const key = randomUUID();
    const { response: made } = await this.patient('order', () =>
      this.clients[number % 2]!.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS }, key),
    );
    if (made.status !== 201)
      return this.options.verdict.expect(false, `an order got ${made.status}`, made.text);
    const { order } = made.json<{ order: Order }>();
    const start = atTheEnd
      ? performance.now() + Date.parse(order.expires_at) - Date.now()
      : performance.now();
    const told = await Promise.all(
      steps.map(async (step) => {
        await sleep(Math.max(0, start + step.atMs - performance.now()));
        return step.kind === 'deposit' ? this.deposit(order, step) : this.ask(order, step.kind, step.process);
      }),
    );
    this.told.set(
      order.id,
      told.flatMap((each) => each ?? []),
    );
  }

  private async ask(order: Order, kind: Exclude<Step['kind'], 'deposit'>, at: 0 | 1): Promise<Told> {
    const { response, askedAt } = await this.patient(kind, () =>
      this.clients[at]!.act(order.id, kind, ADDRESS),
    );
    return { kind, status: response.status, order: orderOf(response), askedAt, toldAt: performance.now() };
  }

  /** As merchants do: a 503 changed nothing, and is tried again when its Retry-After says so. */
  private async patient(name: string, send: () => Promise<ApiResponse>) {
    for (let left = MAX_RETRIES; ; left -= 1) {
      const askedAt = performance.now();
      const response = await send();
      this.tally.add(`${name} ${response.status}`);
      const retryAfter = Number(response.headers['retry-after']);
      if (response.status !== 503 || !(retryAfter > 0) || left === 0) return { response, askedAt };
      await sleep(retryAfter * 1000);
    }
  }

  /** Pending until the next block is mined. */
  private async deposit({ id, amount_from, deposit_address }: Order, step: Step): Promise<null> {
    const minor = (toMinorUnits(amount_from) * BigInt(step.hundredths)) / 100n;
    this.tally.add('deposit');
    this.sent.push({
      orderId: id,
      hash: await this.treasury.transfer(deposit_address, Number(minor)),
      minor,
    });
    return null;
  }

  /** Every response tells of a moment that the order's history has, and none goes back behind an earlier one. */
  async checkResponses(): Promise<void> {
    const { verdict } = this.options;
    const histories = await historiesOf(this.pool);
    const all = [...this.told].map(([id, told]) => ({ id, told, history: histories.get(id) ?? new Set() }));
    const wrong = (broken: (told: Told, history: ReadonlySet<unknown>) => boolean): readonly unknown[] =>
      all.flatMap(({ id, told, history }) =>
        told.filter((each) => broken(each, history)).map((each) => [id, each]),
      );
    verdict.none(
      wrong(({ kind, status }) => !(status === 200 || (status === 409 && kind !== 'refresh'))),
      'a response is neither 200 nor, of an action, 409',
    );
    verdict.none(
      wrong(({ order }, history) => order !== null && !history.has(order.status)),
      'a response shows a status that the order never had',
    );
    verdict.none(
      wrong(({ kind, status }, history) => kind === 'cancel' && status === 200 && !history.has('cancelled')),
      'a cancel is 200, and the order was not cancelled',
    );
    verdict.none(
      wrong(({ kind, status }, history) => kind === 'mark_as_paid' && status === 200 && !history.has('paid')),
      'mark_as_paid is 200, and the order was not paid',
    );
    const cancels = (told: readonly Told[]): number =>
      told.filter(({ kind, status }) => kind === 'cancel' && status === 200).length;
    verdict.none(
      all.filter(({ told, history }) => cancels(told) !== (history.has('cancelled') ? 1 : 0)),
      'an order is cancelled without a 200, or with two',
    );
    verdict.none(
      all.filter(({ told }) => told.some((later) => told.some((earlier) => isBehind(later, earlier)))),
      'a response shows an order as it was before an earlier response',
    );
    const { rows } = await this.pool.query<{ ways: number }>(
      `select count(distinct types)::int as ways from
         (select string_agg(type, ' ' order by revision) as types from event_store.events
          where stream like 'order-%' group by stream) each`,
    );
    this.options.say(`ways   ${rows[0]!.ways} different histories`);
  }
}

function isBehind(later: Told, earlier: Told): boolean {
  if (later.order === null || earlier.order === null || later.askedAt < earlier.toldAt) return false;
  return rank(later.order) < rank(earlier.order);
}

function rank({ status }: Order): number {
  return Math.min(ORDER_STATUSES.indexOf(status), ORDER_STATUSES.indexOf('completed'));
}

function orderOf(response: ApiResponse): Order | null {
  return response.status === 200 ? response.json<{ order: Order }>().order : null;
}
