import { isDecimal, isZero, sum } from '../../../kernel/decimal.js';
import { ProviderRefused } from '../../../platform/outbound/provider-errors.js';
import type { AgreedOrder, ProviderStatus } from './exchange-provider.ports.js';
import { type Asset, type Pair, countDecimals, pairOf } from '../tokens/catalog.js';
import { plainHash } from '../orders/addresses.js';
import type { OrderOutcome, ProviderDeposit } from '../watch/observation.js';
import type { DepositFacts } from '../orders/order-events.js';
import { contradiction, type SideShiftObject } from './sideshift-api.adapter.js';

/** The state of a deposit by SideShift's status. A deposit in `refund` waits for a refund address. */
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
/** The reason of a failed order whose deposit waits at SideShift for a refund address. */
const REFUND_WAITS = 'refund_address_needed';

interface ReportedDeposit {
  readonly status: DepositStatus;
  /** The deposit, or null while it is unconfirmed. */
  readonly deposit: ProviderDeposit | null;
  /** The transaction of the payout or the refund. */
  readonly hash: string | null;
}

/** Reads a shift. Throws ProviderUnavailable (`contradiction`) if its terms or recorded deposits changed. */
export function readShift(
  response: SideShiftObject,
  agreed: AgreedOrder,
  recorded: readonly Pick<DepositFacts, 'deposit_id' | 'amount'>[],
): Omit<ProviderStatus, 'completeUntil'> {
  requireSame(response, agreed);
  const deposits = findDeposits(response, agreed);
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

/** Throws if the response differs from the agreed shift. An old shift may lack its deposit address. */
export function requireSame(response: SideShiftObject, agreed: AgreedOrder): void {
  if (response['id'] !== agreed.provider_reference) contradiction('it is another shift');
  if (response['type'] !== 'fixed') contradiction('the shift is not of a fixed rate');
  requireAssets(response, knownPair(agreed.pair_id));
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

/** Returns a memo as text, or null. SideShift may send a number. */
export function memoText(memo: unknown): string | null {
  if (typeof memo === 'number') return String(memo);
  return typeof memo === 'string' && memo !== '' ? memo : null;
}

export function assetAmount(value: unknown, asset: Asset, what: string): string {
  return isDecimal(value, countDecimals(asset)) ? sum([value]) : contradiction(`${what} is no amount`);
}

export function readTime(value: unknown, what: string): string {
  const time = typeof value === 'string' && value.length < 40 ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? contradiction(`${what} is no time`) : new Date(time).toISOString();
}

function lower(value: unknown): string | null {
  return typeof value === 'string' ? value.toLowerCase() : null;
}

function findDeposits(response: SideShiftObject, agreed: AgreedOrder): readonly ReportedDeposit[] {
  const { status, deposits } = response;
  if (status === 'waiting' || status === 'expired') return [];
  if (status !== 'multiple') return [toDeposit(response, 0, agreed)];
  if (!Array.isArray(deposits) || deposits.length === 0)
    return contradiction('the shift has several deposits and lists none');
  // One transaction may pay the address more than once.
  const times = new Map<unknown, number>();
  return deposits.map((each: unknown) => {
    if (typeof each !== 'object' || each === null) return contradiction('a deposit is no object');
    const deposit = each as SideShiftObject;
    const { depositHash: hash } = deposit;
    const transaction = typeof hash === 'string' ? plainHash(hash) : hash;
    const before = times.get(transaction) ?? 0;
    times.set(transaction, before + 1);
    return toDeposit(deposit, before, agreed);
  });
}

function toDeposit(response: SideShiftObject, before: number, agreed: AgreedOrder): ReportedDeposit {
  const pair = knownPair(agreed.pair_id);
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
    deposited_at: readTime(depositReceivedAt, 'the time of a deposit'),
  };
  if (status === 'settled') {
    const amountTo = assetAmount(response['settleAmount'], pair.to, 'what was paid out');
    // A counted partial deposit has changed both amounts of the order.
    const isWhole = agreed.amount_from === agreed.maximum;
    if (amount !== agreed.maximum || (isWhole && amountTo !== agreed.amount_to))
      contradiction('it exchanged amounts other than the agreed ones');
  }
  return { status, deposit, hash: isOver ? toHash(settleHash) : null };
}

function toHash(value: unknown): string {
  return typeof value === 'string' && HASH.test(value) ? value : contradiction('a transaction has no hash');
}

/** Returns the outcome, or null if none is known. SideShift exchanges one deposit and refunds the rest. */
function toOutcome(deposits: readonly ReportedDeposit[], agreed: AgreedOrder): OrderOutcome | null {
  const settled = deposits.filter(({ status }) => status === 'settled');
  if (settled.length > 1) return contradiction('it exchanged more than one deposit');
  if (settled[0]) return { kind: 'completed', transactionHash: settled[0].hash!, amountTo: agreed.amount_to };
  const isOpen = deposits.some(({ status, deposit }) => deposit === null || status === 'confirmed');
  if (deposits.length === 0 || isOpen) return null;
  if (deposits.some(({ status }) => status === 'refund')) return { kind: 'failed', reason: REFUND_WAITS };
  return { kind: 'refunded', transactionHash: deposits[0]!.hash };
}

export function knownPair(pairId: string): Pair {
  const pair = pairOf(pairId);
  if (pair === null) throw new ProviderRefused('is not a pair of SideShift', 'pair_id');
  return pair;
}
