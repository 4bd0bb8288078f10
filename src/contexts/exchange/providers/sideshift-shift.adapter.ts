import { HOUR_MS } from '../../../kernel/clock.js';
import { isDecimal, isZero, sum } from '../../../kernel/decimal.js';
import type { ProviderStatus } from './exchange-provider.ports.js';
import { type Asset, type Pair, countDecimals } from '../tokens/catalog.js';
import { plainHash } from '../orders/addresses.js';
import type { OrderOutcome, ProviderDeposit } from '../watch/observation.js';
import type { DepositFacts, OrderFacts, ProviderOrder } from '../orders/order-events.js';
import { contradiction, type SideShiftObject } from './sideshift-api.adapter.js';
import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { SealError, Sealer } from '../../../platform/sealing/sealer.js';

/** The state of a deposit by SideShift's status; one in `refund` waits for a refund address. */
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
/** The tolerated difference between the clocks of SideShift, the chains and this machine. */
const CLOCK_TOLERANCE_MS = HOUR_MS;
/** The reason of an order whose deposit waits at SideShift for a return address. */
const REFUND_WAITS = 'refund_address_needed';

interface ReportedDeposit {
  readonly status: DepositStatus;
  /** The deposit; null as long as it has no hash. */
  readonly deposit: ProviderDeposit | null;
  /** The transaction of the payout or the refund. */
  readonly hash: string | null;
}

/**
 * Reads a shift that was requested at `nowMs`. Throws ProviderUnavailable, `contradiction`, for a response that differs from
 * the agreed terms or from recorded deposits.
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
      contradiction('a recorded deposit is missing or has another amount');
  return {
    deposits: listed,
    isDepositPending: deposits.some((each) => each.deposit === null),
    outcome: toOutcome(deposits, agreed),
  };
}

/** Throws for a response that differs from the agreed shift, which never changes. An old shift may lack its address. */
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
    contradiction('the deposit asset differs from the pair');
  if (!isOf(response['settleCoin'], response['settleNetwork'], to))
    contradiction('the payout asset differs from the pair');
}

/** A memo as text; SideShift may return a number. Null when there is none. */
export function memoText(memo: unknown): string | null {
  if (typeof memo === 'number') return String(memo);
  return typeof memo === 'string' && memo !== '' ? memo : null;
}

export function assetAmount(value: unknown, asset: Asset, what: string): string {
  return isDecimal(value, countDecimals(asset)) ? sum([value]) : contradiction(`${what} is no amount`);
}

/** ISO 8601 in UTC. */
export function readTime(value: unknown, what: string): string {
  const time = typeof value === 'string' && value.length < 40 ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? contradiction(`${what} is no time`) : new Date(time).toISOString();
}

function lower(value: unknown): string | null {
  return typeof value === 'string' ? value.toLowerCase() : null;
}

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
    const deposit = each as SideShiftObject;
    const { depositHash: hash } = deposit;
    const transaction = typeof hash === 'string' ? plainHash(hash) : hash;
    const before = times.get(transaction) ?? 0;
    times.set(transaction, before + 1);
    return toDeposit(deposit, before, shift);
  });
}

function toDeposit(
  response: SideShiftObject,
  before: number,
  { agreed, pair, nowMs }: Shift,
): ReportedDeposit {
  const { status: name, depositHash = null, depositReceivedAt = null, settleHash } = response;
  if (typeof name !== 'string' || !Object.hasOwn(STATUSES, name))
    return contradiction('the status of the shift is not documented');
  const status = STATUSES[name as keyof typeof STATUSES];
  const isOver = status === 'settled' || status === 'refunded';
  if (status === 'pending' || ((depositHash === null || depositReceivedAt === null) && !isOver))
    return { status, deposit: null, hash: null };
  const amount = assetAmount(response['depositAmount'], pair.from, 'a deposit');
  if (isZero(amount)) return contradiction('the amount of a deposit is 0');
  const transaction_hash = toHash(depositHash);
  const plain = plainHash(transaction_hash);
  const deposit = {
    deposit_id: `sideshift:${agreed.provider_reference}:${plain}${before === 0 ? '' : `:${before}`}`,
    claim: `${pair.from.chain}_${plain}`,
    amount,
    transaction_hash,
    deposited_at: depositTime(depositReceivedAt, agreed, nowMs),
  };
  if (status === 'settled') {
    const amountTo = assetAmount(response['settleAmount'], pair.to, 'what was paid out');
    if (amount !== agreed.amount_from || amountTo !== agreed.amount_to)
      contradiction('it exchanged amounts other than the agreed ones');
  }
  return { status, deposit, hash: isOver ? toHash(settleHash) : null };
}

function depositTime(value: unknown, agreed: AgreedShift, nowMs: number): string {
  const at = readTime(value, 'the time of a deposit');
  const ms = Date.parse(at);
  if (ms < Date.parse(agreed.created_at) - CLOCK_TOLERANCE_MS || ms > nowMs + CLOCK_TOLERANCE_MS)
    return contradiction('the time of a deposit is before its shift or in the future');
  return at;
}

function toHash(value: unknown): string {
  return typeof value === 'string' && HASH.test(value) ? value : contradiction('a transaction has no hash');
}

/** Returns the outcome. SideShift exchanges one deposit and refunds all others. */
function toOutcome(deposits: readonly ReportedDeposit[], agreed: AgreedShift): OrderOutcome | null {
  const settled = deposits.filter(({ status }) => status === 'settled');
  if (settled.length > 1) return contradiction('it exchanged more than one deposit');
  if (settled[0]) return { kind: 'completed', transactionHash: settled[0].hash!, amountTo: agreed.amount_to };
  const isOpen = deposits.some(({ status, deposit }) => deposit === null || status === 'confirmed');
  if (deposits.length === 0 || isOpen) return null;
  if (deposits.some(({ status }) => status === 'refund')) return { kind: 'failed', reason: REFUND_WAITS };
  return { kind: 'refunded', transactionHash: deposits[0]!.hash };
}

const AGREED_SHIFT = 'agreed shift';

/** The terms at the creation of a shift, whose id is the `provider_reference`. */
export type AgreedShift = ProviderOrder & Pick<OrderFacts, 'pair_id' | 'created_at' | 'withdraw_address'>;

/**
 * The rows of `exchange.sideshift_shifts`. A MAC protects the agreed terms and the order's id, because a forged row
 * would assign another shift to the order.
 */
@Injectable()
export class SideShiftShifts {
  constructor(
    private readonly database: Database,
    private readonly sealer: Sealer,
  ) {}

  /** Throws {@link SealError} for a row that another program wrote. */
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

  /** Stores the order's shift, and returns the first one that was stored. */
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
