import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { SUSPENDED } from '../../../../platform/http/admission.js';
import {
  MERCHANT_DIRECTORY,
  type KnownMerchant,
  type MerchantDirectory,
} from '../../../../platform/http/merchant-directory.js';
import type { Framers } from '../../../../platform/http/pages/page.js';
import { VisitorLimits } from '../../../../platform/http/pages/visitor-limits.js';
import { Refusal } from '../../../../platform/http/problem.js';

/** What the API asks of its callers, as far as a page has it: the merchant is known and not suspended, and nobody asks too often. */
@Injectable()
export class WidgetGate {
  private readonly limits: VisitorLimits;

  constructor(
    @Inject(CONFIG)
    private readonly config: Pick<Config, 'mode' | 'rateLimitPerMinute' | 'rateLimitPerIpPerMinute'>,
    @Inject(MERCHANT_DIRECTORY) private readonly directory: MerchantDirectory,
  ) {
    this.limits = new VisitorLimits(config);
  }

  /** The merchant, when its page or step may go on. Throws `not_found` for an unknown one, and {@link Refusal} (403, 429). */
  async enter(merchantId: string, userId: string, address: string): Promise<KnownMerchant> {
    const merchant = await this.directory.find(merchantId);
    if (merchant === null) throw DomainError.notFound('User');
    if (merchant.status === 'suspended') throw new Refusal(SUSPENDED);
    const refused = this.limits.refusal(address, merchantId, userId);
    if (refused !== null) throw new Refusal(refused);
    return merchant;
  }

  /** Who may show the page in a frame: whom the merchant named. Nobody else may, but in the sandbox of one that named nobody. */
  framersOf({ origins }: KnownMerchant): Framers {
    if (this.config.mode === 'sandbox') return origins.length === 0 ? null : origins;
    return origins.filter((origin) => origin.startsWith('https:'));
  }
}
