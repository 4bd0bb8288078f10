import type { Payout } from './types.js';

const HASH = /^(?:0x)?([0-9a-f]{64})$/i;

/**
 * Returns the digits of a transaction hash in lower case, or undefined for any other text. Ignores `0x`, and
 * the spaces and invisible characters that copying adds.
 */
export function hashDigits(text: string): string | undefined {
  return HASH.exec(text.replace(/\p{Default_Ignorable_Code_Point}/gu, '').trim())?.[1]?.toLowerCase();
}

/** Days in UTC, `YYYY-MM-DD`, both inclusive. */
export interface Period {
  readonly created_from: string;
  readonly created_to: string;
}

/** A payout as your own books have it. */
export interface ExpectedPayout {
  readonly transaction_hash: string;
  readonly user_id: string;
  /** A decimal, such as `12.5`. */
  readonly amount: string;
}

export interface Reconciliation {
  /** The number of payouts in both books with the same amount. */
  readonly matched: number;
  /** The payouts that are only in your books. Report them again under their own Idempotency-Key. */
  readonly missing: readonly ExpectedPayout[];
  /** The payouts that are only at the service. */
  readonly unexpected: readonly Payout[];
  /** The payouts with the same transfer and user but another amount. */
  readonly different: readonly { readonly expected: ExpectedPayout; readonly payout: Payout }[];
  /** The matched payouts without an outcome. `expired` has those whose transfer was not found in time. */
  readonly pending: readonly Payout[];
  readonly expired: readonly Payout[];
}

/** Compares two lists of payouts by transfer and user. Only the caller's list is held in memory. */
export async function reconcile(
  listed: AsyncIterable<Payout>,
  own: Iterable<ExpectedPayout>,
): Promise<Reconciliation> {
  const open = new Map<string, ExpectedPayout[]>();
  for (const each of own) open.set(keyOf(each), [...(open.get(keyOf(each)) ?? []), each]);
  const [unexpected, pending, expired]: [Payout[], Payout[], Payout[]] = [[], [], []];
  const different: { expected: ExpectedPayout; payout: Payout }[] = [];
  const unmatched: Payout[] = [];
  let matched = 0;
  for await (const payout of listed) {
    const candidates = open.get(keyOf(payout)) ?? [];
    const at = candidates.findIndex(({ amount }) => decimal(amount) === decimal(payout.amount));
    if (at < 0) {
      unmatched.push(payout);
      continue;
    }
    candidates.splice(at, 1);
    matched += 1;
    if (payout.status === 'pending') pending.push(payout);
    if (payout.status === 'expired') expired.push(payout);
  }
  // These come last, because a payout with an equal amount has precedence.
  for (const payout of unmatched) {
    const expected = open.get(keyOf(payout))?.shift();
    if (expected === undefined) unexpected.push(payout);
    else different.push({ expected, payout });
  }
  return { matched, missing: [...open.values()].flat(), unexpected, different, pending, expired };
}

function keyOf({ transaction_hash, user_id }: Pick<ExpectedPayout, 'transaction_hash' | 'user_id'>): string {
  return `${hashDigits(transaction_hash) ?? transaction_hash.toLowerCase()} ${user_id.toLowerCase()}`;
}

/** Removes leading zeros and zeros at the end: `12.50` becomes `12.5`. */
function decimal(amount: string): string {
  const [whole = '0', part = ''] = amount.split('.');
  return `${whole.replace(/^0+(?=\d)/, '')}.${part.replace(/0+$/, '')}`;
}
