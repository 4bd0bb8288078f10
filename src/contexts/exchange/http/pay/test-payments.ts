import { Inject, Injectable, Optional } from '@nestjs/common';
import { DomainError } from '../../../../kernel/domain-error.js';
import { toMinorUnits } from '../../../../kernel/money.js';
import { TEST_MONEY, type TestMoney } from '../../application/ports.js';
import { isOpen, type ExistingOrder } from '../../domain/order.js';
import { DEV_CHAIN_ID } from '../../settings.js';
import { payOrder } from './pay-order.js';
import { chainConfig, type ChainConfig } from '../../../../platform/config/config.js';

/** Pays orders of the sandbox with test USDC. */
@Injectable()
export class TestPayments {
  constructor(
    @Inject(chainConfig.KEY) private readonly config: ChainConfig,
    @Optional() @Inject(TEST_MONEY) private readonly money?: TestMoney,
  ) {}

  /** The key of the test money is known to everybody: on another chain it has none. */
  get areOffered(): boolean {
    const { mode, chainId } = this.config;
    return this.money !== undefined && mode === 'sandbox' && chainId === DEV_CHAIN_ID;
  }

  /** What is missing of the order. Throws `not_found` outside the sandbox, and `invalid_transition`. */
  async pay(state: ExistingOrder): Promise<void> {
    const { provider, deposit_address: address } = state.facts;
    if (!this.areOffered || this.money === undefined || provider !== 'sandbox')
      throw DomainError.notFound('Page');
    const { missing } = payOrder(state, 0);
    if (!isOpen(state) || missing === '0')
      throw new DomainError('invalid_transition', `The order is ${state.status}`);
    await this.money.transfer(address, toMinorUnits(missing));
  }
}
