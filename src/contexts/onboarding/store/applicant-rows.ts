import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { dropWork } from '../../../platform/jobs/work-items.js';

const TABLES = ['images', 'phone_codes', 'sandbox_reviews', 'verifications'] as const;

/** Drops the rows of a person. What is in events is sealed with the key of the person. */
@Injectable()
export class ApplicantRows {
  constructor(private readonly database: Database) {}

  /** A step that is performed late finds nothing to send to a provider. */
  dropPending(userId: string): Promise<void> {
    return this.database.transaction(async (tx) => {
      await dropWork(tx, 'onboarding.step', [userId]);
      await tx.query('delete from onboarding.images where user_id = $1', [userId]);
    });
  }

  /** Also what providers call the person. */
  async dropAll(userId: string): Promise<void> {
    for (const table of TABLES)
      await this.database.query(`delete from onboarding.${table} where user_id = $1`, [userId]);
    // The row itself stays: no card is requested for the person any more.
    await this.database.query(
      'update onboarding.stripe_cards set cardholder_id = null, card_id = null where user_id = $1',
      [userId],
    );
  }
}
