import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../kernel/domain-error.js';
import { CONFIG, type Config } from '../config/config.js';
import { SubscriptionLag } from './subscription-lag.js';
import { ViewProgress } from './view-progress.js';

/**
 * Lets reads show what was true when they arrived: a merchant who got a response sees what it wrote, from any
 * process, and nobody is shown what was true long ago (contract.md 7.2).
 */
@Injectable()
export class ViewFreshness {
  constructor(
    private readonly progress: ViewProgress,
    private readonly lag: SubscriptionLag,
    @Inject(CONFIG) private readonly config: Pick<Config, 'projectionLagLimitMs'>,
  ) {}

  /**
   * Resolves when the read model `name` shows all that was written before the call, or after READ_YOUR_WRITES_MS.
   * Throws DomainError `unavailable` when it is then further behind than PROJECTION_LAG_LIMIT_MS.
   */
  async require(name: string): Promise<void> {
    if (await this.progress.current(name)) return;
    if ((await this.lag.of(name)) > this.config.projectionLagLimitMs) {
      throw new DomainError('unavailable', 'The data is not up to date at the moment');
    }
  }
}
