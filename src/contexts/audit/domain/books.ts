import { toMinorUnits, isAmount } from '../../../kernel/money.js';
import type { PayoutEvent } from '../../payouts/contract.js';
import type { UserCreated } from '../../users/contract.js';

/** Most a payout may be (contract.md 9.3), in minor units. */
const MOST_MINOR = 10_000_000_000n;

/** An event as auditors read it: where it stands, and what it says. */
export interface BookedEvent {
  readonly position: string;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly data: object;
}

/** One payout as the events tell it. */
export interface BookedPayout {
  readonly id: string;
  readonly merchantId: string;
  readonly userId: string;
  readonly amount: string;
  readonly amountMinor: bigint;
  readonly transactionHash: string;
  readonly customMetadata: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  /** Position of the report. */
  readonly reportedAt: string;
  status: 'pending' | 'received' | 'expired';
  reason: string | null;
}

/** The response that the API gives for a payout, byte for byte (contract.md 9). */
export function responseOf(payout: BookedPayout): string {
  const fields = [
    ['id', payout.id],
    ['user_id', payout.userId],
    ['amount', payout.amount],
    ['currency_code', 'USDC'],
    ['status', payout.status],
    ['transaction_hash', payout.transactionHash],
    ['reason', payout.reason],
  ].map(([name, value]) => `"${name}":${JSON.stringify(value)}`);
  return `{${fields.join(',')},"custom_metadata":${payout.customMetadata},"created_at":"${payout.createdAt}"}`;
}

/** What a user's payouts add up to, in minor units. */
export interface BookedBalance {
  readonly merchantId: string;
  confirmed: bigint;
  pending: bigint;
}

/** Something that must never be. `position` is the event that broke the rule. */
export interface Violation {
  readonly position: string;
  readonly rule: string;
}

/**
 * The books, kept from the events alone and by code of their own: what the read models are held against. Rules are
 * checked event by event; a broken one is noted and the fold goes on.
 */
export class Books {
  readonly payouts = new Map<string, BookedPayout>();
  readonly balances = new Map<string, BookedBalance>();
  readonly violations: Violation[] = [];
  events = 0;
  private readonly revisions = new Map<string, number>();
  private readonly usedTransfers = new Map<string, string>();
  /** Claims on transfers: their streams, and the streams that hold them. */
  private readonly claims = new Map<string, string>();
  private last: bigint | null = null;

  add(event: BookedEvent): void {
    this.events += 1;
    this.checkOrder(event);
    switch (event.type) {
      case 'user.created.v1':
        return this.openAccount(event.data as UserCreated['data'], event.position);
      case 'claim.taken.v1':
        if (event.stream.startsWith('transfer-'))
          this.claims.set(event.stream, (event.data as { owner: string }).owner);
        return;
      case 'payout.reported.v1':
      case 'payout.received.v1':
      case 'payout.received.v2':
      case 'payout.expired.v1':
        return this.book(event as BookedEvent & PayoutEvent, event.position);
      default:
    }
  }

  private checkOrder({ position, stream, revision }: BookedEvent): void {
    const place = BigInt(position);
    if (this.last !== null && place <= this.last) this.note(position, 'positions grow');
    this.last = place;
    const before = this.revisions.get(stream) ?? -1;
    if (revision !== before + 1)
      this.note(position, `revisions of ${stream} have no gap (${before}, then ${revision})`);
    this.revisions.set(stream, revision);
  }

  private openAccount(data: UserCreated['data'], position: string): void {
    if (this.balances.has(data.user_id)) this.note(position, `user ${data.user_id} is created once`);
    else this.balances.set(data.user_id, { merchantId: data.merchant_id, confirmed: 0n, pending: 0n });
  }

  private book(event: PayoutEvent, position: string): void {
    const { data } = event;
    if (event.type === 'payout.reported.v1') return this.report(event.data, position);
    const payout = this.payouts.get(data.payout_id);
    if (payout === undefined)
      return this.note(position, `payout ${data.payout_id} is reported before it ends`);
    if (payout.status !== 'pending') return this.note(position, `payout ${payout.id} ends once`);
    if (
      payout.amount !== data.amount ||
      payout.userId !== data.user_id ||
      payout.merchantId !== data.merchant_id ||
      payout.transactionHash !== data.transaction_hash ||
      payout.customMetadata !== data.custom_metadata
    ) {
      this.note(position, `payout ${payout.id} ends as it was reported`);
    }
    const balance = this.balances.get(payout.userId);
    if (balance !== undefined) balance.pending -= payout.amountMinor;
    if (event.type === 'payout.expired.v1') {
      if (Date.parse(event.data.expired_at) < Date.parse(payout.expiresAt))
        this.note(position, `payout ${payout.id} expires after its window`);
      payout.status = 'expired';
      payout.reason = event.data.reason;
      return;
    }
    payout.status = 'received';
    if (balance !== undefined) balance.confirmed += payout.amountMinor;
    const log = `${event.data.chain_id}_${data.transaction_hash.trim().toLowerCase()}_${event.data.log_index}`;
    const other = this.usedTransfers.get(log);
    if (other !== undefined)
      this.note(position, `transfer ${log} confirms one payout, not ${other} and ${payout.id}`);
    this.usedTransfers.set(log, payout.id);
    if (this.claims.get(`transfer-${log}`) !== `payout-${payout.id}`)
      this.note(position, `payout ${payout.id} holds the claim of its transfer ${log}`);
  }

  private report(data: Extract<PayoutEvent, { type: 'payout.reported.v1' }>['data'], position: string): void {
    const id = data.payout_id;
    if (this.payouts.has(id)) return this.note(position, `payout ${id} is reported once`);
    const amountMinor = isAmount(data.amount) ? toMinorUnits(data.amount) : 0n;
    if (amountMinor <= 0n || amountMinor > MOST_MINOR)
      this.note(position, `payout ${id} has an amount in bounds`);
    const balance = this.balances.get(data.user_id);
    if (balance?.merchantId !== data.merchant_id)
      this.note(position, `payout ${id} is to a user of its merchant`);
    if (balance !== undefined) balance.pending += amountMinor;
    this.payouts.set(id, {
      id,
      merchantId: data.merchant_id,
      userId: data.user_id,
      amount: data.amount,
      amountMinor,
      transactionHash: data.transaction_hash,
      customMetadata: data.custom_metadata,
      createdAt: data.created_at,
      expiresAt: data.expires_at,
      reportedAt: position,
      status: 'pending',
      reason: null,
    });
  }

  private note(position: string, rule: string): void {
    this.violations.push({ position, rule });
  }
}
