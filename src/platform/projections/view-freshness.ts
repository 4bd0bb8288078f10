import { Injectable } from '@nestjs/common';
import { DomainError } from '../../kernel/domain-error.js';
import { ViewProgress } from './view-progress.js';

/**
 * Lets reads show what was true when they arrived: a merchant who got a response sees what it wrote, from any process,
 * or a 503, and never the state before it (contract.md 7.1, 7.2).
 */
@Injectable()
export class ViewFreshness {
  constructor(private readonly progress: ViewProgress) {}

  /**
   * Resolves when the read model `name` shows all that was written before the call. Throws DomainError `unavailable`
   * when it does not within READ_YOUR_WRITES_MS.
   */
  async require(name: string): Promise<void> {
    if (!(await this.progress.current(name)))
      throw new DomainError('unavailable', 'The data is not up to date at the moment');
  }
}
