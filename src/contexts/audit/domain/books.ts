import { isAmount, toMinorUnits } from '../../../kernel/money.js';
import type { PayoutEvent, PayoutReceived } from '../../payouts/contract.js';
import type { UserCreated } from '../../users/contract.js';
import { NameTable } from '../../../kernel/name-table.js';
import { Violations } from './findings.js';

/** Of a payout (contract.md 9.3), in minor units. */
const MAX_MINOR = 10_000_000_000n;

/** An event as auditors read it. */
export interface BookedEvent {
  readonly position: string;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly data: object;
}

/** A payout without an outcome. */
interface OpenPayout {
  readonly id: string;
  readonly merchantId: string;
  readonly userId: string;
  readonly amount: string;
  readonly amountMinor: bigint;
  readonly transactionHash: string;
  readonly customMetadata: string;
  readonly expiresAt: string;
}

/** What a user's payouts add up to, in minor units. */
interface BookedBalance {
  readonly merchantId: string;
  confirmed: bigint;
  pending: bigint;
  /** From the start of its user's deactivation on. */
  isDeactivating: boolean;
}

/**
 * Money books, from the events alone and by code that no projection shares: balances are compared with them. Rules are
 * checked event by event; a broken one is noted and the fold continues. Memory: open payouts, and some 20 bytes for each
 * of the others.
 */
export class Books {
  readonly balances = new Map<string, BookedBalance>();
  readonly counts = { pending: 0, received: 0, expired: 0 };
  /** Without an outcome, by their ids. */
  private readonly open = new Map<string, OpenPayout>();
  private readonly payouts = new NameTable();
  private readonly usedTransfers = new NameTable();
  /** Claims on transfers, each with the stream that holds it. */
  private readonly claims = new NameTable();

  constructor(readonly violations = new Violations()) {}

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
    this.balances.set(data.user_id, { merchantId, confirmed: 0n, pending: 0n, isDeactivating: false });
  }

  private leave({ type, data, position }: BookedEvent): void {
    const { user_id: id } = data as { user_id: string };
    const balance = this.balances.get(id);
    if (balance === undefined) return;
    balance.isDeactivating = true;
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
      return this.end(payout, 'expired');
    }
    const log = `${event.data.chain_id}_${data.transaction_hash.trim().toLowerCase()}_${event.data.log_index}`;
    if (this.usedTransfers.has(log))
      this.note(position, `transfer ${log} confirms one payout, and ${payout.id} is not the first`);
    this.usedTransfers.add(log);
    if (!this.claims.has(`transfer-${log} payout-${payout.id}`))
      this.note(position, `payout ${payout.id} holds the claim of its transfer ${log}`);
    this.end(payout, 'received');
  }

  private end(payout: OpenPayout, status: 'received' | 'expired'): void {
    const balance = this.balances.get(payout.userId);
    if (balance !== undefined) {
      balance.pending -= payout.amountMinor;
      if (status === 'received') balance.confirmed += payout.amountMinor;
    }
    this.open.delete(payout.id);
    this.counts.pending -= 1;
    this.counts[status] += 1;
  }

  private report(data: Extract<PayoutEvent, { type: 'payout.reported.v1' }>['data'], position: string): void {
    const id = data.payout_id;
    if (this.payouts.has(id)) return this.note(position, `payout ${id} is reported once`);
    this.payouts.add(id);
    const amountMinor = isAmount(data.amount) ? toMinorUnits(data.amount) : 0n;
    if (amountMinor <= 0n || amountMinor > MAX_MINOR)
      this.note(position, `payout ${id} has an amount in bounds`);
    const balance = this.balances.get(data.user_id);
    if (balance?.merchantId !== data.merchant_id)
      this.note(position, `payout ${id} is to a user of its merchant`);
    if (balance?.isDeactivating === true)
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
      expiresAt: data.expires_at,
    });
  }

  private note(position: string, rule: string): void {
    this.violations.add({ position, rule });
  }
}

/** Whether what a payout was received for is what it is: the amount, to its user's wallet, of the token. */
export class EvidenceBooks {
  /** Payouts whose evidence was checked. */
  checked = 0;
  private readonly wallets = new Map<string, string>();

  /** `token`: of USDC, where it is known. */
  constructor(
    private readonly violations: Violations,
    private readonly token: string | null,
  ) {}

  add({ type, data, position }: BookedEvent): void {
    if (type === 'onboarding.wallet_provisioned.v1' || type === 'user.activated.v1') {
      const { user_id: user, issuer_wallet_address: wallet } = data as Record<string, string>;
      this.wallets.set(user!, wallet!.toLowerCase());
    } else if (type === 'payout.received.v2') this.check(data as PayoutReceived['data'], position);
  }

  private check(data: PayoutReceived['data'], position: string): void {
    this.checked += 1;
    const { payout_id: id, amount, value, to, token, confirmations } = data;
    const note = (rule: string): void => this.violations.add({ position, rule: `payout ${id}: ${rule}` });
    if (!isAmount(amount) || toMinorUnits(amount).toString() !== value)
      note(`its evidence is a transfer of its amount, and not of ${value} minor units for ${amount}`);
    const wallet = this.wallets.get(data.user_id);
    if (to !== wallet)
      note(`its evidence is a transfer to its user's wallet ${wallet ?? '(none)'}, and not to ${to}`);
    if (this.token !== null && token !== this.token.toLowerCase())
      note(`its evidence is a transfer of the token ${this.token.toLowerCase()}, and not of ${token}`);
    if (!(confirmations >= 1)) note('its evidence has confirmations');
  }
}
