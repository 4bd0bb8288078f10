import { toMinorUnits, isAmount } from '../../../kernel/money.js';
import type { PayoutEvent } from '../../payouts/contract.js';
import type { UserCreated } from '../../users/contract.js';
import { NameTable } from '../../../kernel/name-table.js';
import { Violations } from './violations.js';

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
  readonly status: 'pending' | 'received' | 'expired';
  readonly reason: string | null;
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

/** How `payouts.payouts.status` stands for the words of the API. */
export const STATUS_NUMBERS = { pending: 0, received: 1, expired: 2 } as const;

/** What a user's payouts add up to, in minor units. */
export interface BookedBalance {
  readonly merchantId: string;
  confirmed: bigint;
  pending: bigint;
  /** From the start of its user's deactivation on. */
  isLeaving: boolean;
}

/**
 * The books, kept from the events alone and by code of their own: what the read models are held against. Rules are
 * checked event by event; a broken one is noted and the fold goes on. Payouts are kept until they end; of those that did,
 * some 20 bytes each.
 */
export class Books {
  readonly balances = new Map<string, BookedBalance>();
  readonly counts = { pending: 0, received: 0, expired: 0 };
  /** Without an outcome, by their ids. */
  readonly open = new Map<string, BookedPayout>();
  private readonly usedTransfers = new NameTable();
  /** Claims on transfers, each with the stream that took it. */
  private readonly claims = new NameTable();

  /** `ended` hears of each payout once it has its outcome. `payouts`: names of all, which others may share. */
  constructor(
    readonly violations = new Violations(),
    private readonly ended: (payout: BookedPayout) => void = () => undefined,
    private readonly payouts = new NameTable(),
  ) {}

  add(event: BookedEvent): void {
    switch (event.type) {
      case 'user.created.v1':
        return this.openAccount(event.data as UserCreated['data'], event.position);
      case 'user.deactivation_started.v1':
      case 'user.deactivated.v1':
        return this.leave(event);
      case 'claim.taken.v1':
        if (event.stream.startsWith('transfer-'))
          this.claims.add(`${event.stream} ${(event.data as { owner: string }).owner}`);
        return;
      case 'payout.reported.v1':
      case 'payout.received.v2':
      case 'payout.expired.v1':
        return this.book(event as BookedEvent & PayoutEvent, event.position);
      default:
    }
  }

  private openAccount(data: UserCreated['data'], position: string): void {
    if (this.balances.has(data.user_id)) return this.note(position, `user ${data.user_id} is created once`);
    const { merchant_id: merchantId } = data;
    this.balances.set(data.user_id, { merchantId, confirmed: 0n, pending: 0n, isLeaving: false });
  }

  private leave({ type, data, position }: BookedEvent): void {
    const { user_id: id } = data as { user_id: string };
    const balance = this.balances.get(id);
    if (balance === undefined) return;
    balance.isLeaving = true;
    if (type === 'user.deactivated.v1' && balance.pending !== 0n)
      this.note(position, `user ${id} is deactivated once no payout is pending`);
  }

  private book(event: PayoutEvent, position: string): void {
    const { data } = event;
    if (event.type === 'payout.reported.v1') return this.report(event.data, position);
    const payout = this.open.get(data.payout_id);
    if (payout === undefined) {
      const isKnown = this.payouts.has(data.payout_id);
      return this.note(
        position,
        `payout ${data.payout_id} ${isKnown ? 'ends once' : 'is reported before it ends'}`,
      );
    }
    if (
      payout.amount !== data.amount ||
      payout.userId !== data.user_id ||
      payout.merchantId !== data.merchant_id ||
      payout.transactionHash !== data.transaction_hash ||
      payout.customMetadata !== data.custom_metadata
    ) {
      this.note(position, `payout ${payout.id} ends as it was reported`);
    }
    if (event.type === 'payout.expired.v1') {
      if (Date.parse(event.data.expired_at) < Date.parse(payout.expiresAt))
        this.note(position, `payout ${payout.id} expires after its window`);
      return this.end({ ...payout, status: 'expired', reason: event.data.reason });
    }
    const log = `${event.data.chain_id}_${data.transaction_hash.trim().toLowerCase()}_${event.data.log_index}`;
    if (this.usedTransfers.has(log))
      this.note(position, `transfer ${log} confirms one payout, and ${payout.id} is not the first`);
    this.usedTransfers.add(log);
    if (!this.claims.has(`transfer-${log} payout-${payout.id}`))
      this.note(position, `payout ${payout.id} holds the claim of its transfer ${log}`);
    this.end({ ...payout, status: 'received' });
  }

  private end(payout: BookedPayout & { readonly status: 'received' | 'expired' }): void {
    const balance = this.balances.get(payout.userId);
    if (balance !== undefined) {
      balance.pending -= payout.amountMinor;
      if (payout.status === 'received') balance.confirmed += payout.amountMinor;
    }
    this.open.delete(payout.id);
    this.counts.pending -= 1;
    this.counts[payout.status] += 1;
    this.ended(payout);
  }

  private report(data: Extract<PayoutEvent, { type: 'payout.reported.v1' }>['data'], position: string): void {
    const id = data.payout_id;
    if (this.payouts.has(id)) return this.note(position, `payout ${id} is reported once`);
    this.payouts.add(id);
    const amountMinor = isAmount(data.amount) ? toMinorUnits(data.amount) : 0n;
    if (amountMinor <= 0n || amountMinor > MOST_MINOR)
      this.note(position, `payout ${id} has an amount in bounds`);
    const balance = this.balances.get(data.user_id);
    if (balance?.merchantId !== data.merchant_id)
      this.note(position, `payout ${id} is to a user of its merchant`);
    if (balance?.isLeaving === true)
      this.note(position, `payout ${id} is to a user who is not being deactivated`);
    if (balance !== undefined) balance.pending += amountMinor;
    this.counts.pending += 1;
    this.open.set(id, {
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
    this.violations.add({ position, rule });
  }
}
