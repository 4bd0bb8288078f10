import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { SubscriptionLag } from './subscription-lag.js';

/** Keeps reads from answering with what was true long ago (decisions.md, "503"). */
@Injectable()
export class ViewFreshness {
  constructor(
    private readonly lag: SubscriptionLag,
    @Inject(CONFIG) private readonly config: Pick<Config, 'projectionLagLimitMs'>,
  ) {}

  /** Throws DomainError `unavailable` while the read model `name` is further behind than PROJECTION_LAG_LIMIT_MS. */
  async require(name: string): Promise<void> {
    if ((await this.lag.of(name)) > this.config.projectionLagLimitMs) {
      throw new DomainError('unavailable', 'The data is not up to date at the moment');
    }
  }
}
