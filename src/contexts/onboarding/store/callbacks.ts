import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { wakeWork } from '../../../platform/work/work-items.js';

/** Callbacks of identity providers that were taken, so that each is taken once, over all processes. */
@Injectable()
export class Callbacks {
  constructor(private readonly database: Database) {}

  /** Has the verification of that check polled now. All of it happens, or nothing. */
  take(
    provider: string,
    eventId: string,
    check: string | null,
  ): Promise<'taken' | 'repeated' | 'unknown_check'> {
    return this.database.transaction(async (tx) => {
      const fresh = await tx.query(
        'insert into onboarding.callbacks (provider, event_id) values ($1, $2) on conflict do nothing',
        [provider, eventId],
      );
      if (fresh.rowCount === 0) return 'repeated';
      const { rows } = await tx.query<{ user_id: string }>(
        'select user_id from onboarding.verifications where provider = $1 and check_reference = $2',
        [provider, check],
      );
      await wakeWork(
        tx,
        'onboarding.step',
        rows.map(({ user_id }) => user_id),
      );
      return rows.length > 0 ? 'taken' : 'unknown_check';
    });
  }

  async deleteOlderThan(seconds: number): Promise<void> {
    await this.database.query(
      'delete from onboarding.callbacks where received_at < now() - make_interval(secs => $1)',
      [seconds],
    );
  }
}
