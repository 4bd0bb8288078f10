import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';

interface TakenRow extends Record<string, unknown> {
  readonly fresh: boolean;
  readonly known: boolean;
}

/** Callbacks of identity providers that were taken, so that each is taken once, over all processes. */
@Injectable()
export class Callbacks {
  constructor(private readonly database: Database) {}

  /** Has the verification of that check looked at now. All of it happens, or nothing. */
  async take(
    provider: string,
    eventId: string,
    check: string | null,
  ): Promise<'taken' | 'repeated' | 'unknown_check'> {
    const [taken] = await this.database.query<TakenRow>(
      `with fresh as (
         insert into onboarding.callbacks (provider, event_id) values ($1, $2) on conflict do nothing returning 1
       ), known as (
         select user_id from onboarding.verifications where provider = $1 and check_reference = $3
       ), woken as (
         update onboarding.steps set due_at = least(due_at, now()), asked = asked + 1
         from known where steps.user_id = known.user_id and exists (select from fresh)
       )
       select exists (select from fresh) as fresh, exists (select from known) as known`,
      [provider, eventId, check],
    );
    if (!taken!.fresh) return 'repeated';
    return taken!.known ? 'taken' : 'unknown_check';
  }

  async deleteOlderThan(seconds: number): Promise<void> {
    await this.database.query(
      'delete from onboarding.callbacks where received_at < now() - make_interval(secs => $1)',
      [seconds],
    );
  }
}
