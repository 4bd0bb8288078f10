import { isAtLeast, minus } from '../../../../kernel/decimal.js';
import { amountReceived, hasEnded, isOpen, refused, type ExistingOrder } from '../../domain/order.js';
import { orderRecord } from '../../domain/order-record.js';
import type { PayOrder, Transfer } from './pay-types.js';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { DomainError } from '../../../../kernel/domain-error.js';
import { toMinorUnits } from '../../../../kernel/money.js';
import { TEST_MONEY, type TestMoney } from '../../application/ports.js';
import { DEV_CHAIN_ID } from '../../settings.js';
import { chainConfig, type ChainConfig } from '../../../../platform/config/config.js';

/** The order as the page displays it; `now` in epoch ms. */
export function payOrder(state: ExistingOrder, now: number): PayOrder {
  const order = orderRecord(state);
  const { amount_from: amount, amount_received: received } = order;
  const missing = isAtLeast(received, amount) ? '0' : minus(amount, received);
  return { order, missing, transfers: toTransfers(state), is_final: hasEnded(state), now };
}

function toTransfers(state: ExistingOrder): readonly Transfer[] {
  const { withdraw_transaction_hash: payout, refund_transaction_hash: refund } = state;
  const transfers = (
    kind: Transfer['kind'],
    all: readonly { amount: string; transaction_hash: string | null }[],
  ) => all.flatMap(({ amount, transaction_hash: hash }) => (hash === null ? [] : [{ kind, amount, hash }]));
  return [
    ...transfers('deposit', state.deposits),
    ...transfers('late', state.late_deposits),
    ...transfers('payout', [{ amount: state.amount_to, transaction_hash: payout }]),
    ...transfers('refund', [{ amount: amountReceived(state), transaction_hash: refund }, ...state.refunds]),
  ];
}

/** Pays orders of the sandbox with test USDC. */
@Injectable()
export class TestPayments {
  constructor(
    @Inject(chainConfig.KEY) private readonly config: ChainConfig,
    @Optional() @Inject(TEST_MONEY) private readonly money?: TestMoney,
  ) {}

  /** The key of the test money is public, so it has money on the dev chain alone. */
  get areOffered(): boolean {
    const { mode, chainId } = this.config;
    return this.money !== undefined && mode === 'sandbox' && chainId === DEV_CHAIN_ID;
  }

  /** Pays the missing part of the order. Throws `not_found` outside the sandbox, and `invalid_transition`. */
  async pay(state: ExistingOrder): Promise<void> {
    const { provider, deposit_address: address } = state;
    if (!this.areOffered || this.money === undefined || provider !== 'sandbox')
      throw DomainError.notFound('Page');
    const { missing } = payOrder(state, 0);
    if (!isOpen(state) || missing === '0') throw refused(`The order is ${state.status}`);
    await this.money.transfer(address, toMinorUnits(missing));
  }
}
