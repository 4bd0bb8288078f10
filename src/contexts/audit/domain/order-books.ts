import { exchanged, isAtLeast, isZero, minus, sum } from '../../../kernel/decimal.js';
import { deriveId } from '../../../kernel/ids.js';
import type { ExchangeKeyIssued } from '../../access/contract.js';
import {
  ORDER_CATEGORY,
  type DepositFacts,
  type OrderEvent,
  type OrderFacts,
  type OrderStatus,
} from '../../exchange/contract.js';
import type { BookedEvent } from './books.js';
import { NameTable } from '../../../kernel/name-table.js';
import { Violations } from './violations.js';

/** One exchange order as the events tell it. Amounts are decimal strings in whole units. */
export interface BookedOrder {
  facts: OrderFacts;
  /** Position of its first event. */
  readonly madeAt: string;
  /** Of its last event. */
  revision: number;
  updatedAt: string;
  status: OrderStatus;
  reason: string | null;
  /** Counted towards what was asked. */
  deposits: DepositFacts[];
  late: DepositFacts[];
  dust: string;
  amountFrom: string;
  amountTo: string;
  refundable: string;
  refunded: string;
  /** Exchanged or refunded, of deposits that are no longer on the chain. */
  lost: string;
  withdrawTransactionHash: string | null;
}

/** From which statuses an event may follow; the others may follow from any. */
const FOLLOWS: Readonly<Partial<Record<OrderEvent['type'], readonly OrderStatus[]>>> = {
  'order.marked_as_paid.v1': ['pending'],
  'order.cancelled.v1': ['pending'],
  'order.expired.v1': ['pending'],
  'order.deposit_received.v1': ['pending', 'paid'],
  'order.processing_started.v1': ['pending', 'paid'],
  'order.completed.v1': ['processing'],
  'order.failed.v1': ['pending', 'paid', 'processing'],
  'order.refunded.v1': ['pending', 'paid', 'processing'],
  'order.late_outcome_recorded.v1': ['completed', 'cancelled', 'expired', 'failed', 'refunded'],
};

/** Late deposits that a response lists (contract.md 23.6). */
const LATE_SHOWN = 50;

/** The order as its row has it, byte for byte: as the API displays it, personal fields sealed (contract.md 22.3). */
export function orderResponseOf(order: BookedOrder): string {
  const { facts, deposits, late } = order;
  const depositsShown = late
    .slice(-LATE_SHOWN)
    .map(({ amount, transaction_hash, deposited_at }) => ({ amount, transaction_hash, deposited_at }));
  const fields: readonly (readonly [string, unknown])[] = [
    ['id', facts.order_id],
    ['pair_id', facts.pair_id],
    ['status', order.status],
    ['reason', order.reason],
    ['withdraw_address', facts.withdraw_address],
    ['withdraw_address_tag', facts.withdraw_address_tag],
    ['withdraw_address_memo', facts.withdraw_address_memo],
    ['user_id', facts.user_id],
    ['deposit_address', facts.deposit_address],
    ['deposit_address_tag', facts.deposit_address_tag],
    ['amount_from', order.amountFrom],
    ['amount_to', order.amountTo],
    ['amount_received', totalOf(deposits)],
    ['amount_refundable', owedOf(order)],
    ['rate', facts.rate],
    ['minimum', facts.minimum],
    ['maximum', facts.maximum],
    ['deposit_transaction_hash', deposits.at(-1)?.transaction_hash ?? null],
    ['withdraw_transaction_hash', order.withdrawTransactionHash],
    ['late_deposits', depositsShown],
    ['created_at', facts.created_at],
    ['updated_at', order.updatedAt],
    ['expires_at', facts.expires_at],
  ];
  return `{${fields.map(([name, value]) => `"${name}":${JSON.stringify(value)}`).join(',')}}`;
}

/** The ids under which lists find the order: of its key, and of that with the user, the address, and both. */
export function orderScopes({ facts }: BookedOrder): readonly (string | null)[] {
  const { key_id: key, user_hash: user, withdraw_address: address } = facts;
  return [
    key,
    user === null ? null : deriveId(key, 'user', user),
    deriveId(key, 'address', address),
    user === null ? null : deriveId(key, 'both', user, address),
  ];
}

/** Orders, kept from the events alone and by code of their own, as {@link Books} keeps payouts. */
export class OrderBooks {
  readonly orders = new Map<string, BookedOrder>();
  /** Merchants by their exchange keys. */
  private readonly keys = new Map<string, string>();
  /** Those that an order has. */
  private readonly deposits = new NameTable();
  /** Of these, those that are off the chain: a reorganisation may bring them back. */
  private readonly released = new Set<string>();

  constructor(readonly violations = new Violations()) {}

  add(event: BookedEvent): void {
    if (event.type === 'exchange_key.issued.v1') {
      const { key_id: key, merchant_id: merchant } = event.data as ExchangeKeyIssued['data'];
      this.keys.set(key, merchant);
    } else if (event.stream.startsWith(`${ORDER_CATEGORY}-`)) {
      this.book(event as BookedEvent & OrderEvent);
    }
  }

  private book(event: BookedEvent & OrderEvent): void {
    if (event.type === 'order.created.v1') return this.open(event.data, event);
    const { order_id: id } = event.data;
    const order = this.orders.get(id);
    if (order === undefined || event.stream !== `${ORDER_CATEGORY}-${id}`)
      return this.note(event, `order ${id} is made before anything befalls it`);
    if (FOLLOWS[event.type]?.includes(order.status) === false)
      this.note(event, `order ${id} is ${order.status}, after which no ${event.type} follows`);
    order.revision = event.revision;
    order.updatedAt = event.data.at;
    this.befall(order, event);
  }

  private open(facts: OrderFacts, event: BookedEvent): void {
    const id = facts.order_id;
    if (this.orders.has(id)) return this.note(event, `order ${id} is made once`);
    if (this.keys.get(facts.key_id) !== facts.merchant_id)
      this.note(event, `order ${id} is made by a key of its merchant`);
    this.orders.set(id, {
      facts,
      madeAt: event.position,
      revision: event.revision,
      updatedAt: facts.created_at,
      status: 'pending',
      reason: null,
      deposits: [],
      late: [],
      dust: '0',
      amountFrom: facts.amount_from,
      amountTo: facts.amount_to,
      refundable: '0',
      refunded: '0',
      lost: '0',
      withdrawTransactionHash: null,
    });
  }

  private befall(order: BookedOrder, event: BookedEvent & Exclude<OrderEvent, { type: 'order.created.v1' }>) {
    const received = totalOf(order.deposits);
    switch (event.type) {
      case 'order.marked_as_paid.v1':
        order.status = 'paid';
        return;
      case 'order.cancelled.v1':
        order.status = 'cancelled';
        return this.giveBack(order, event.data.refundable, received, event);
      case 'order.expired.v1':
        order.status = 'expired';
        if (!isZero(received)) this.note(event, `order ${order.facts.order_id} expires without a deposit`);
        if (Date.parse(event.data.at) < Date.parse(order.facts.expires_at))
          this.note(event, `order ${order.facts.order_id} expires after its end`);
        return;
      case 'order.deposit_received.v1':
        order.deposits.push(event.data);
        return this.countDeposit(order, event.data, event);
      case 'order.late_deposit_recorded.v1':
        order.late.push(event.data);
        return this.countDeposit(order, event.data, event);
      case 'order.deposit_missing.v1': {
        const { deposit_id: id } = event.data;
        const others = (all: DepositFacts[]) => all.filter((each) => each.deposit_id !== id);
        if ([...order.deposits, ...order.late].some((each) => each.deposit_id === id)) this.released.add(id);
        const isLate = others(order.late).length < order.late.length;
        if (!isLate && order.status !== 'pending' && order.status !== 'paid')
          order.lost = sum([order.lost, event.data.amount]);
        order.late = others(order.late);
        order.deposits = others(order.deposits);
        return;
      }
      case 'order.processing_started.v1':
        return this.exchange(order, event.data, event);
      case 'order.completed.v1':
        order.status = 'completed';
        order.amountTo = event.data.amount_to;
        order.withdrawTransactionHash = event.data.withdraw_transaction_hash;
        return;
      case 'order.failed.v1':
        order.status = 'failed';
        order.lost = '0';
        order.reason = event.data.reason;
        return this.giveBack(order, event.data.refundable, received, event);
      case 'order.refunded.v1':
        order.status = 'refunded';
        return this.giveBack(order, minus(sum([received, order.lost]), event.data.amount), '0', event);
      case 'order.dust_recorded.v1':
        order.dust = event.data.amount;
        return;
      case 'order.refund_recorded.v1':
        if (!isAtLeast(owedOf(order), event.data.amount))
          this.note(event, `order ${order.facts.order_id} gives back no more than is owed`);
        order.refunded = sum([order.refunded, event.data.amount]);
        return;
      case 'order.personal_data_erased.v1': {
        const noUser = { user_id: null, user_hash: null };
        order.facts = { ...order.facts, ...noUser, withdraw_address_tag: null, withdraw_address_memo: null };
        return;
      }
      default:
    }
  }

  /** What was counted is exchanged or refundable, and nothing of it is neither. */
  private exchange(
    order: BookedOrder,
    data: Extract<OrderEvent, { type: 'order.processing_started.v1' }>['data'],
    event: BookedEvent,
  ): void {
    const { facts } = order;
    const received = totalOf(order.deposits);
    const whole = sum([data.amount_from, data.refundable]);
    if (!isSame(whole, received) || isZero(data.amount_from) || !isAtLeast(facts.maximum, data.amount_from))
      this.note(event, `order ${facts.order_id} exchanges what came, up to its maximum`);
    const due = isSame(data.amount_from, facts.amount_from)
      ? facts.amount_to
      : exchanged(data.amount_from, facts.rate, facts.decimals_to);
    if (!isSame(data.amount_to, due)) this.note(event, `order ${facts.order_id} exchanges at its rate`);
    order.status = 'processing';
    order.amountFrom = data.amount_from;
    order.amountTo = data.amount_to;
    order.refundable = data.refundable;
  }

  private giveBack(order: BookedOrder, refundable: string, due: string, event: BookedEvent): void {
    if (!isSame(refundable, due))
      this.note(event, `order ${order.facts.order_id} ends with all that came given back or refundable`);
    order.refundable = refundable;
  }

  private countDeposit({ facts }: BookedOrder, { deposit_id: id }: DepositFacts, event: BookedEvent): void {
    if (this.deposits.has(id) && !this.released.delete(id))
      this.note(event, `deposit ${id} is recorded once, and not first for ${facts.order_id}`);
    this.deposits.add(id);
  }

  private note({ position }: BookedEvent, rule: string): void {
    this.violations.add({ position, rule });
  }
}

function totalOf(deposits: readonly DepositFacts[]): string {
  return sum(deposits.map(({ amount }) => amount));
}

/** What an operator still has to give back: late deposits included; refunds, and deposits that are missing, deducted. */
export function owedOf({ refundable, late, dust, refunded, lost }: BookedOrder): string {
  const left = minus(sum([refundable, totalOf(late), dust]), sum([refunded, lost]));
  return isAtLeast(left, '0') ? left : '0';
}

function isSame(a: string, b: string): boolean {
  return isZero(minus(a, b));
}
