import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { addressLimit, AddressRateLimiter, clientOf } from '../../../../platform/http/address.js';
import { SUSPENDED } from '../../../../platform/http/admission.js';
import { MERCHANT_DIRECTORY, type MerchantDirectory } from '../../../../platform/http/merchant-directory.js';
import type { Problem } from '../../../../platform/http/problem.js';
import { tooManyRequests } from '../../../../platform/http/rate-limit.js';

/**
 * What the API asks of its callers, as far as a page has it: the merchant is known and not suspended, and nobody asks too
 * often. The ids are public, so the limit of a merchant is that of each address, for each user and for all of them; what
 * addresses ask above it shares the limit of an address. Nobody shuts out who comes from elsewhere (docs/adr/0108).
 */
@Injectable()
export class WidgetGate {
  private readonly users: AddressRateLimiter;
  private readonly shares: AddressRateLimiter;
  private readonly merchants: AddressRateLimiter;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'rateLimitPerMinute' | 'rateLimitPerIpPerMinute'>,
    @Inject(MERCHANT_DIRECTORY) private readonly directory: MerchantDirectory,
  ) {
    this.users = new AddressRateLimiter(config.rateLimitPerMinute);
    this.shares = new AddressRateLimiter(config.rateLimitPerMinute);
    this.merchants = new AddressRateLimiter(addressLimit(config));
  }

  /** Why nothing is served; null when the page or the step may go on. Throws `not_found` for an unknown merchant. */
  async refusal(merchantId: string, userId: string, address: string): Promise<Problem | null> {
    const merchant = await this.directory.find(merchantId);
    if (merchant === null) throw DomainError.notFound('User');
    if (merchant.status === 'suspended') return SUSPENDED;
    const client = clientOf(address);
    const blockedUntil = this.users.take(`${client} ${userId}`) ?? this.blockedUntil(client, merchantId);
    return blockedUntil === null ? null : tooManyRequests(blockedUntil, Date.now());
  }

  private blockedUntil(client: string, merchantId: string): number | null {
    return this.shares.take(`${client} ${merchantId}`) === null ? null : this.merchants.take(merchantId);
  }
}
