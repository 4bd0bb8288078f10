import { Injectable, Logger } from '@nestjs/common';
import { LedgerChanged, type SignedExtent } from '../domain/signed-extent.js';
import { HealthRegistry, NotReady } from '../../../platform/telemetry/health.js';

/** What this process knows of the ledger without its tables: the head signed last, and what follower and signer refuse. */
@Injectable()
export class LedgerAnchor {
  private readonly logger = new Logger(LedgerAnchor.name);
  private readonly problems = new Map<string, string>();
  last: SignedExtent | null = null;

  constructor(health: HealthRegistry) {
    health.register({
      name: 'ledger',
      check: async () => {
        if (this.problems.size > 0) throw new NotReady([...this.problems.values()].join('; '));
      },
    });
  }

  /** Does the work of the follower or the signer. A {@link LedgerChanged} makes the process not ready until the work succeeds. */
  async guard<T>(who: 'follower' | 'signer', work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.problems.delete(who);
      return result;
    } catch (error) {
      if (error instanceof LedgerChanged && this.problems.get(who) !== error.message) {
        this.problems.set(who, error.message);
        this.logger.error({ msg: `ledger ${who} stopped: ${error.message}`, last_head: this.last });
      }
      throw error;
    }
  }
}
