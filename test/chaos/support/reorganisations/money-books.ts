import type pg from 'pg';
import { fromMinorUnits, toMinorUnits } from '../../../../src/kernel/money.js';
import { Verdict } from '../verdict.js';
import type { Payee } from '../payouts.js';
import { balanceOf, transfersOf, type Transfer } from './token-transfers.js';

/** A payout that names a transaction; the chain says in the end whether that pays it. */
export interface Reported {
  readonly id: string;
  readonly payee: Payee;
  readonly minor: number;
  readonly hash: string;
}

interface Compared {
  readonly pool: pg.Pool;
  readonly rpcUrl: string;
  readonly usdcAddress: string;
  readonly reported: readonly Reported[];
  /** Deposit addresses by order. */
  readonly deposits: ReadonlyMap<string, string>;
}

interface DepositEvent {
  readonly type: string;
  readonly order_id: string;
  readonly deposit_id: string | null;
  readonly hash: string | null;
  readonly amount: string;
}

interface OrderRow {
  readonly id: string;
  readonly body: string;
  readonly refundable: string;
  readonly shortfall: string;
}

interface OrderBody {
  readonly status: string;
  readonly amount_from: string;
  readonly amount_received: string;
  readonly amount_refundable: string;
  readonly late_deposits: readonly { readonly amount: string }[];
}

const OPEN = ['pending', 'paid', 'processing'];

/** All money of payouts and orders: as the service's books have it, against the chain, which no longer changes. */
export class MoneyBooks {
  private verdict = new Verdict();
  private facts = '';

  private constructor(
    private readonly compared: Compared,
    private readonly onChain: ReadonlyMap<string, readonly Transfer[]>,
  ) {}

  static async read(compared: Compared): Promise<MoneyBooks> {
    const { rpcUrl, usdcAddress, reported, deposits } = compared;
    const onChain = await transfersOf(rpcUrl, usdcAddress);
    const books = new MoneyBooks(compared, onChain);
    for (const address of new Set([...reported.map(({ payee }) => payee.wallet), ...deposits.values()]))
      if ((await balanceOf(rpcUrl, usdcAddress, address)) !== books.cameTo(address))
        throw new Error(`the transfers to ${address} are not its balance`);
    return books;
  }

  /** Compares again. */
  async agree(): Promise<boolean> {
    this.verdict = new Verdict();
    const payouts = await this.comparePayouts();
    const orders = await this.compareOrders();
    this.facts = `${payouts}; ${orders}`;
    return this.verdict.broken.length === 0;
  }

  /** What {@link agree} found at last. */
  check(verdict: Verdict): void {
    for (const broken of this.verdict.broken) verdict.expect(false, broken);
    for (let held = this.verdict.facts - this.verdict.broken.length; held > 0; held -= 1)
      verdict.expect(true, '');
  }

  summary(): string {
    return this.facts;
  }

  private cameTo(address: string): bigint {
    return total((this.onChain.get(address.toLowerCase()) ?? []).map(({ minor }) => minor));
  }

  /** Received are those whose transfer is on the chain, and no others; each balance is what came for them. */
  private async comparePayouts(): Promise<string> {
    const { pool, reported } = this.compared;
    const isPaid = ({ payee, minor, hash }: Reported): boolean =>
      (this.onChain.get(payee.wallet.toLowerCase()) ?? []).some(
        (each) => each.hash === hash && each.minor === BigInt(minor),
      );
    const due = reported.filter(isPaid);
    const { rows } = await pool.query<{ id: string; minor: string }>(
      `select data::json->>'payout_id' as id, data::json->>'value' as minor
       from event_store.events where type = 'payout.received.v2'`,
    );
    const line = (id: string, minor: string): string => `${id} ${minor}`;
    this.verdict.equal(
      rows
        .map(({ id, minor }) => line(id, minor))
        .sort()
        .join('\n'),
      due
        .map(({ id, minor }) => line(id, String(minor)))
        .sort()
        .join('\n'),
      'payouts received are those on the chain',
    );
    for (const { id: user, wallet } of new Set(reported.map(({ payee }) => payee))) {
      const stored = await pool.query<{ confirmed: string }>(
        'select confirmed from payouts.balances where user_id = $1',
        [user],
      );
      const came = this.cameTo(wallet).toString();
      this.verdict.equal(
        stored.rows[0]?.confirmed ?? '0',
        came,
        `the balance of ${user} is what its wallet has`,
      );
    }
    const sum = fromMinorUnits(total(due.map(({ minor }) => BigInt(minor))));
    return `${due.length} of ${reported.length} payouts received, ${sum} USDC`;
  }

  /** What an order's address has is what the events say, and what was exchanged or is refundable. */
  private async compareOrders(): Promise<string> {
    const { pool, deposits } = this.compared;
    const events = await this.depositEvents();
    const { rows } = await pool.query<OrderRow>(
      'select id, body, refundable::text, shortfall::text from exchange.orders',
    );
    this.verdict.equal(rows.length, deposits.size, 'every order is there');
    let short = 0n;
    for (const row of rows) {
      const address = deposits.get(row.id)!;
      const came = this.cameTo(address);
      const order = JSON.parse(row.body) as OrderBody;
      const all = { ...row, came: came.toString() };
      const says = (holds: boolean, fact: string): void => this.verdict.expect(holds, fact, all);
      says(!OPEN.includes(order.status), 'an order has ended');
      const { recorded, dust } = recordOf(events.filter(({ order_id }) => order_id === row.id));
      const late = total(order.late_deposits.map(({ amount }) => toMinorUnits(amount)));
      says(
        toMinorUnits(order.amount_received) + late + dust === came,
        'deposits, late deposits and small ones are what the address has',
      );
      const transfers = (this.onChain.get(address.toLowerCase()) ?? []).map(
        (each) => `${each.hash} ${each.minor}`,
      );
      says(
        dust > 0n || recorded.sort().join() === transfers.sort().join(),
        'deposits that are recorded and not missing are those on the chain',
      );
      const exchanged = order.status === 'completed' ? toMinorUnits(order.amount_from) : 0n;
      short += toMinorUnits(row.shortfall);
      says(
        exchanged + toMinorUnits(order.amount_refundable) - toMinorUnits(row.shortfall) === came,
        'what was exchanged and what is refundable, less what is missing, is what the address has',
      );
      says(
        toMinorUnits(row.refundable) === toMinorUnits(order.amount_refundable),
        'operators see what is refundable',
      );
    }
    return `${rows.length} orders, ${this.depositFacts(events)}, shortfall ${fromMinorUnits(short)} USDC`;
  }

  private async depositEvents(): Promise<readonly DepositEvent[]> {
    const { rows } = await this.compared.pool.query<DepositEvent>(
      `select type, data::json->>'order_id' as order_id, data::json->>'deposit_id' as deposit_id,
         data::json->>'transaction_hash' as hash, data::json->>'amount' as amount
       from event_store.events where type in ('order.deposit_received.v1', 'order.late_deposit_recorded.v1',
         'order.deposit_missing.v1', 'order.dust_recorded.v1') order by position`,
    );
    return rows;
  }

  private depositFacts(events: readonly DepositEvent[]): string {
    const orders = new Map<string, Set<string>>();
    for (const { hash, order_id } of events)
      if (hash !== null) orders.set(hash, new Set([...(orders.get(hash) ?? []), order_id]));
    const missing = events.filter(({ type }) => type === 'order.deposit_missing.v1').length;
    const fickle = [...orders.values()].filter(({ size }) => size > 1).length;
    return `${events.length - missing} deposits recorded, ${missing} missing, ${fickle} transactions recorded of several orders`;
  }
}

/** A second fold of an order's deposits, with none of the service's code. */
function recordOf(events: readonly DepositEvent[]): { readonly recorded: string[]; readonly dust: bigint } {
  const recorded = new Map<string, string>();
  let dust = 0n;
  for (const { type, deposit_id: id, hash, amount } of events) {
    if (type === 'order.dust_recorded.v1') dust = toMinorUnits(amount);
    else if (type === 'order.deposit_missing.v1') recorded.delete(id!);
    else recorded.set(id!, `${hash} ${toMinorUnits(amount)}`);
  }
  return { recorded: [...recorded.values()], dust };
}

function total(minors: readonly bigint[]): bigint {
  return minors.reduce((sum, each) => sum + each, 0n);
}
