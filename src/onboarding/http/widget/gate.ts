import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { addressLimit, AddressRateLimiter } from '../../../platform/http/address.js';
import { SUSPENDED } from '../../../platform/http/admission.js';
import { MERCHANT_DIRECTORY, type MerchantDirectory } from '../../../platform/http/edge.js';
import type { Problem } from '../../../platform/http/problem.js';
import { tooManyRequests } from '../../../platform/http/rate-limit.js';

/**
 * What the API asks of its callers, as far as a page has it: the merchant is known and not suspended, and nobody asks too
 * often. Each user of a merchant has the limit of a merchant and all of them together that of an address: the ids are
 * public, and one limit for all would let anybody shut everybody out (docs/adr/0108).
 */
@Injectable()
export class WidgetGate {
  private readonly merchants: AddressRateLimiter;
  private readonly users: AddressRateLimiter;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'rateLimitPerMinute' | 'rateLimitPerIpPerMinute'>,
    @Inject(MERCHANT_DIRECTORY) private readonly directory: MerchantDirectory,
  ) {
    this.merchants = new AddressRateLimiter(addressLimit(config));
    this.users = new AddressRateLimiter(config.rateLimitPerMinute);
  }

  /** Why nothing is served; null when the page or the step may go on. Throws `not_found` for an unknown merchant. */
  async refusal(merchantId: string, userId: string): Promise<Problem | null> {
    const merchant = await this.directory.find(merchantId);
    if (merchant === null) throw DomainError.notFound('User');
    if (merchant.status === 'suspended') return SUSPENDED;
    const blockedUntil = this.merchants.take(merchantId) ?? this.users.take(userId);
    return blockedUntil === null ? null : tooManyRequests(blockedUntil, Date.now());
  }
}
