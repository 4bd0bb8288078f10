import { isAmount, toMinorUnits } from '../../../kernel/money.js';
import type { PayoutReceived } from '../../payouts/contract.js';
import type { BookedEvent } from './books.js';
import type { Violations } from './violations.js';

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
