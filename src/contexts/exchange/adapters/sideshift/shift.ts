import { HOUR_MS } from '../../../../kernel/clock.js';
import { isDecimal, isZero, sum } from '../../../../kernel/decimal.js';
import type { ProviderDeposit, ProviderStatus } from '../../application/ports.js';
import { type Asset, type Pair, countDecimals } from '../../domain/catalog.js';
import { plainHash } from '../../domain/addresses.js';
import type { OrderOutcome } from '../../domain/observation.js';
import type { DepositFacts, ProviderOrder } from '../../domain/order-events.js';
import { contradiction, type SideShiftObject } from './sideshift-api.js';
import { Injectable } from '@nestjs/common';
import { Database } from '../../../../platform/postgres/database.js';
import { SealError, Sealer } from '../../../../platform/sealing/sealer.js';

/** Pending; confirmed; paid out; waiting for a refund address; refunded. */
const STATUSES = {
  pending: 'pending',
  processing: 'confirmed',
  review: 'confirmed',
  settling: 'confirmed',
  settled: 'settled',
  refund: 'refund',
  refunding: 'confirmed',
  refunded: 'refunded',
} as const;
type DepositStatus = (typeof STATUSES)[keyof typeof STATUSES];

const HASH = /^[!-~]{8,200}$/;
const MAX_DEPOSITS = 1000;
/** The largest difference between SideShift's clock, the times of chains and the local clock. */
const CLOCK_TOLERANCE_MS = HOUR_MS;
/** The reason of an order whose deposit waits at SideShift for a return address. */
const REFUND_WAITS = 'refund_address_needed';

/** A deposit as SideShift reports it; null as long as it has no hash. */
interface ReportedDeposit {
  readonly status: DepositStatus;
  readonly deposit: ProviderDeposit | null;
  /** The hash of the payout or the refund. */
  readonly hash: string | null;
  readonly amountTo: string | null;
}

/**
 * Reads a shift that was requested at `nowMs`. Throws ProviderUnavailable, `contradiction`, where it contradicts what was
 * agreed or recorded before.
 */
export function readShift(
  response: SideShiftObject,
  agreed: AgreedShift,
  pair: Pair,
  recorded: readonly Pick<DepositFacts, 'deposit_id' | 'amount'>[],
  nowMs: number,
): Omit<ProviderStatus, 'completeUntil'> {
  requireSame(response, agreed, pair);
  const deposits = findDeposits(response, { agreed, pair, nowMs });
  const listed = deposits.flatMap(({ deposit }) => (deposit === null ? [] : [deposit]));
  listed.sort((a, b) => (a.deposited_at < b.deposited_at ? -1 : a.deposited_at > b.deposited_at ? 1 : 0));
  for (const { deposit_id, amount } of recorded)
    if (listed.find((each) => each.deposit_id === deposit_id)?.amount !== amount)
      contradiction('a deposit that was there is gone, or of another amount');
  return {
    deposits: listed,
    isDepositPending: deposits.some((each) => each.deposit === null),
    outcome: toOutcome(deposits, agreed),
  };
}

/** Throws where the response contradicts the agreed shift, which never changes. The address of an old shift may be absent. */
export function requireSame(response: SideShiftObject, agreed: AgreedShift, pair: Pair): void {
  if (response['id'] !== agreed.provider_reference) contradiction('it is another shift');
  if (response['type'] !== 'fixed') contradiction('the shift is not of a fixed rate');
  requireAssets(response, pair);
  if (response['settleAddress'] !== agreed.withdraw_address)
    contradiction('the shift pays out to another address');
  const { depositAddress = null, depositMemo = null } = response;
  if (depositAddress !== null && depositAddress !== agreed.deposit_address)
    contradiction('the deposit address of the shift has changed');
  if (depositAddress !== null && memoText(depositMemo) !== agreed.deposit_address_tag)
    contradiction('the deposit memo of the shift has changed');
}

export function requireAssets(response: SideShiftObject, { from, to }: Pair): void {
  const isOf = (coin: unknown, network: unknown, { token, chain }: Asset): boolean =>
    lower(coin) === token && lower(network) === chain;
  if (!isOf(response['depositCoin'], response['depositNetwork'], from))
    contradiction('the shift takes something else');
  if (!isOf(response['settleCoin'], response['settleNetwork'], to))
    contradiction('the shift pays out something else');
}

/** A memo as text; SideShift may return a number. Null when there is none. */
export function memoText(memo: unknown): string | null {
  if (typeof memo === 'number') return String(memo);
  return typeof memo === 'string' && memo !== '' ? memo : null;
}

/** The canonical decimal of an amount of an asset. */
export function assetAmount(value: unknown, asset: Asset, what: string): string {
  if (!isDecimal(value, countDecimals(asset))) return contradiction(`${what} is no amount`);
  return sum([value]);
}

/** ISO 8601 in UTC. */
export function readTime(value: unknown, what: string): string {
  const time = typeof value === 'string' && value.length < 40 ? Date.parse(value) : NaN;
  if (Number.isNaN(time)) return contradiction(`${what} is no time`);
  return new Date(time).toISOString();
}

function lower(value: unknown): string | null {
  return typeof value === 'string' ? value.toLowerCase() : null;
}

/** The facts with which the deposits of a shift are read. */
type Shift = { readonly agreed: AgreedShift; readonly pair: Pair; readonly nowMs: number };

function findDeposits(response: SideShiftObject, shift: Shift): readonly ReportedDeposit[] {
  const { status, deposits } = response;
  if (status === 'waiting' || status === 'expired') return [];
  if (status !== 'multiple') return [toDeposit(response, 0, shift)];
  if (!Array.isArray(deposits) || deposits.length === 0 || deposits.length > MAX_DEPOSITS)
    return contradiction('the shift has several deposits and lists none, or too many');
  // One transaction may pay the address more than once.
  const times = new Map<unknown, number>();
  return deposits.map((each: unknown) => {
    if (typeof each !== 'object' || each === null) return contradiction('a deposit is no object');
    const { depositHash } = each as SideShiftObject;
    const transaction = typeof depositHash === 'string' ? plainHash(depositHash) : depositHash;
    const before = times.get(transaction) ?? 0;
    times.set(transaction, before + 1);
    return toDeposit(each as SideShiftObject, before, shift);
  });
}

function toDeposit(
  response: SideShiftObject,
  before: number,
  { agreed, pair, nowMs }: Shift,
): ReportedDeposit {
  const { status: name } = response;
  if (typeof name !== 'string' || !Object.hasOwn(STATUSES, name))
    return contradiction('the shift has a status that its documentation does not know');
  const status = STATUSES[name as keyof typeof STATUSES];
  const { depositHash = null, depositReceivedAt = null, settleHash = null, settleAmount = null } = response;
  const isOver = status === 'settled' || status === 'refunded';
  if (status === 'pending' || ((depositHash === null || depositReceivedAt === null) && !isOver))
    return { status, deposit: null, hash: null, amountTo: null };
  const amount = assetAmount(response['depositAmount'], pair.from, 'a deposit');
  if (isZero(amount)) return contradiction('a deposit is of nothing');
  const hash = toHash(depositHash);
  const deposit = {
    deposit_id: `sideshift:${agreed.provider_reference}:${plainHash(hash)}${before === 0 ? '' : `:${before}`}`,
    claim: `${pair.from.chain}_${plainHash(hash)}`,
    amount,
    transaction_hash: hash,
    deposited_at: depositTime(depositReceivedAt, agreed, nowMs),
  };
  if (status === 'settled') {
    const amountTo = assetAmount(settleAmount, pair.to, 'what was paid out');
    if (amount !== agreed.amount_from || amountTo !== agreed.amount_to)
      contradiction('it exchanged other amounts than were agreed');
    return { status, deposit, hash: toHash(settleHash), amountTo };
  }
  return { status, deposit, hash: status === 'refunded' ? toHash(settleHash) : null, amountTo: null };
}

function depositTime(value: unknown, agreed: AgreedShift, nowMs: number): string {
  const at = readTime(value, 'the time of a deposit');
  const ms = Date.parse(at);
  if (ms < Date.parse(agreed.created_at) - CLOCK_TOLERANCE_MS || ms > nowMs + CLOCK_TOLERANCE_MS)
    return contradiction('a deposit came before its shift, or after now');
  return at;
}

function toHash(value: unknown): string {
  return typeof value === 'string' && HASH.test(value) ? value : contradiction('a transaction has no hash');
}

/** One deposit is exchanged; every other one goes back. */
function toOutcome(deposits: readonly ReportedDeposit[], agreed: AgreedShift): OrderOutcome | null {
  const settled = deposits.filter(({ status }) => status === 'settled');
  if (settled.length > 1) return contradiction('it exchanged more than one deposit');
  if (settled[0]) return { kind: 'completed', transactionHash: settled[0].hash!, amountTo: agreed.amount_to };
  const isOpen = deposits.some(({ status, deposit }) => deposit === null || status === 'confirmed');
  if (deposits.length === 0 || isOpen) return null;
  if (deposits.some(({ status }) => status === 'refund')) return { kind: 'failed', reason: REFUND_WAITS };
  return { kind: 'refunded', transactionHash: deposits[0]!.hash };
}

/** The purpose of the MACs. */
const AGREED_SHIFT = 'agreed shift';

/** The terms at the creation of a shift, whose id is the `provider_reference`. */
export interface AgreedShift extends ProviderOrder {
  readonly pair_id: string;
  readonly created_at: string;
  readonly withdraw_address: string;
}

/**
 * `exchange.sideshift_shifts`. What was agreed carries a MAC over the order and itself: a row that another program wrote
 * would have the order paid out for another shift.
 */
@Injectable()
export class SideShiftShifts {
  constructor(
    private readonly database: Database,
    private readonly sealer: Sealer,
  ) {}

  /** Throws {@link SealError} where the service did not write what was agreed. */
  async find(orderId: string): Promise<AgreedShift | null> {
    const [row] = await this.database.query<{ agreed: string; mac: string }>(
      'select agreed, mac from exchange.sideshift_shifts where order_id = $1',
      [orderId],
    );
    if (row === undefined) return null;
    if (!this.sealer.isAuthentic(AGREED_SHIFT, `${orderId} ${row.agreed}`, row.mac))
      throw new SealError(`the shift of order ${orderId} was changed outside the service`);
    return JSON.parse(row.agreed) as AgreedShift;
  }

  /** The order's shift from now on: this one, or the one that it has already. */
  async agree(orderId: string, agreed: AgreedShift): Promise<AgreedShift> {
    const text = JSON.stringify(agreed);
    await this.database.query(
      `insert into exchange.sideshift_shifts (order_id, shift_id, agreed, mac) values ($1, $2, $3, $4)
       on conflict (order_id) do nothing`,
      [orderId, agreed.provider_reference, text, this.sealer.mac(AGREED_SHIFT, `${orderId} ${text}`)],
    );
    return (await this.find(orderId))!;
  }
}
