import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { SUSPENDED } from '../../../../platform/http/admission.js';
import { MERCHANT_DIRECTORY, type MerchantDirectory } from '../../../../platform/http/merchant-directory.js';
import { VisitorLimits } from '../../../../platform/http/pages/visitor-limits.js';
import type { Problem } from '../../../../platform/http/problem.js';

/** What the API asks of its callers, as far as a page has it: the merchant is known and not suspended, and nobody asks too often. */
@Injectable()
export class WidgetGate {
  private readonly limits: VisitorLimits;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'rateLimitPerMinute' | 'rateLimitPerIpPerMinute'>,
    @Inject(MERCHANT_DIRECTORY) private readonly directory: MerchantDirectory,
  ) {
    this.limits = new VisitorLimits(config);
  }

  /** Why nothing is served; null when the page or the step may go on. Throws `not_found` for an unknown merchant. */
  async refusal(merchantId: string, userId: string, address: string): Promise<Problem | null> {
    const merchant = await this.directory.find(merchantId);
    if (merchant === null) throw DomainError.notFound('User');
    if (merchant.status === 'suspended') return SUSPENDED;
    return this.limits.refusal(address, merchantId, userId);
  }
}
