import { CLAIM_ACQUIRED } from '../../../kernel/claims.js';
import { isAmount, toMinorUnits } from '../../../kernel/money.js';
import type { PayoutEvent, PayoutReceived } from '../../payouts/payouts.contract.js';
import type { UserEvent } from '../../users/users.contract.js';
import { NameTable } from '../../../kernel/name-table.js';
import type { PlacedEvent } from '../ledger/event-leaf.js';
import type { Violations } from './findings.js';

/** The sums of a user's payouts, in minor units. */
interface BookedBalance {
  readonly merchantId: string;
  confirmed: bigint;
  pending: bigint;
  isDeactivating: boolean;
}

/** A calculation of balances without projection code. A received payout needs some 40 bytes of memory. */
export class BalanceReplay {
  readonly balances = new Map<string, BookedBalance>();
  readonly counts = { pending: 0, received: 0, expired: 0 };
  /** The amounts of payouts without an outcome, in minor units, by payout id. */
  private readonly open = new Map<string, bigint>();
  private readonly usedTransfers = new NameTable();
  /** The claims on transfers, each as `<stream> <owner>`. */
  private readonly claims = new NameTable();

  constructor(readonly violations: Violations) {}

  add(recorded: PlacedEvent): void {
    const note = (rule: string): void => this.violations.add({ position: recorded.position, rule });
    const event = recorded as PlacedEvent & (PayoutEvent | UserEvent);
    switch (event.type) {
      case 'user.created.v1': {
        const { user_id: id, merchant_id: merchantId } = event.data;
        if (!this.balances.has(id))
          this.balances.set(id, { merchantId, confirmed: 0n, pending: 0n, isDeactivating: false });
        return;
      }
      case 'user.deactivation_started.v1':
      case 'user.deactivated.v1': {
        const balance = this.balances.get(event.data.user_id);
        if (balance === undefined) return;
        balance.isDeactivating = true;
        if (event.type === 'user.deactivated.v1' && balance.pending !== 0n)
          note(`user ${event.data.user_id} must have no pending payout when deactivated`);
        return;
      }
      case 'payout.reported.v1':
        return this.reported(event.data, note);
      case 'payout.received.v2':
        return this.receive(event.data, note);
      case 'payout.expired.v1':
        return this.end(event.data, 'expired');
      default:
        if (recorded.type === CLAIM_ACQUIRED && recorded.stream.startsWith('transfer-'))
          this.claims.add(`${recorded.stream} ${(recorded.data as { owner: string }).owner}`);
    }
  }

  /** Returns the counts of payouts and users, and sums over all users in minor units, as decimal strings. */
  report() {
    const users = [...this.balances.values()];
    const sum = (name: 'confirmed' | 'pending'): string =>
      users.reduce((total, balance) => total + balance[name], 0n).toString();
    return {
      payouts: { ...this.counts },
      users: users.length,
      confirmed_minor: sum('confirmed'),
      pending_minor: sum('pending'),
    };
  }

  private reported({ payout_id: id, user_id, merchant_id, amount }: Facts, note: Note): void {
    const balance = this.balances.get(user_id);
    if (balance?.merchantId !== merchant_id) note(`payout ${id} must be to a user of its merchant`);
    if (balance?.isDeactivating === true) note(`payout ${id} must be to a user who is not being deactivated`);
    if (this.open.has(id)) return;
    const minor = isAmount(amount) ? toMinorUnits(amount) : 0n;
    this.open.set(id, minor);
    this.counts.pending += 1;
    if (balance !== undefined) balance.pending += minor;
  }

  private receive(data: PayoutReceived['data'], note: Note): void {
    const { payout_id: id } = data;
    const transfer = `${data.chain_id}_${data.transaction_hash.trim().toLowerCase()}_${data.log_index}`;
    if (this.usedTransfers.has(transfer))
      note(`transfer ${transfer} must confirm only one payout, and ${id} is not the first`);
    this.usedTransfers.add(transfer);
    if (!this.claims.has(`transfer-${transfer} payout-${id}`))
      note(`payout ${id} must hold the claim of its transfer ${transfer}`);
    this.end(data, 'received');
  }

  private end({ payout_id: id, user_id }: Facts, status: 'received' | 'expired'): void {
    const minor = this.open.get(id);
    if (minor === undefined) return;
    this.open.delete(id);
    this.counts.pending -= 1;
    this.counts[status] += 1;
    const balance = this.balances.get(user_id);
    if (balance === undefined) return;
    balance.pending -= minor;
    if (status === 'received') balance.confirmed += minor;
  }
}

type Facts = PayoutEvent['data'];
type Note = (rule: string) => void;

export class EvidenceCheck {
  checked = 0;
  private readonly wallets = new Map<string, string>();

  /** `token` is the address of USDC; null accepts evidence of any token. */
  constructor(
    private readonly violations: Violations,
    private readonly token: string | null,
  ) {}

  add({ type, data, position }: PlacedEvent): void {
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
      note(`the evidence must be a transfer of the payout amount, not of ${value} minor units for ${amount}`);
    const wallet = this.wallets.get(data.user_id);
    if (to !== wallet)
      note(`the evidence must be a transfer to the user's wallet ${wallet ?? '(none)'}, not to ${to}`);
    if (this.token !== null && token !== this.token.toLowerCase())
      note(`the evidence must be a transfer of the token ${this.token.toLowerCase()}, not of ${token}`);
    if (!(confirmations >= 1)) note('the evidence must have at least one confirmation');
  }
}
