import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';

/** What is there to be handed over; then whatever else has rows of a person, each by user_id. */
const HANDED_OVER = ['steps', 'images'] as const;
const OTHERS = ['phone_codes', 'sandbox_reviews', 'verifications'] as const;

/** Drops the rows of a person. What is in events is sealed with the key of the person. */
@Injectable()
export class ApplicantRows {
  constructor(private readonly database: Database) {}

  /** From now on a step that comes late has nothing to hand over. */
  dropHandedOver(userId: string): Promise<void> {
    return this.drop(HANDED_OVER, userId);
  }

  /** Also what providers call the person. */
  async dropAll(userId: string): Promise<void> {
    await this.drop([...HANDED_OVER, ...OTHERS], userId);
    // The row itself stays: no card is asked for any more.
    await this.database.query(
      'update onboarding.stripe_cards set cardholder_id = null, card_id = null where user_id = $1',
      [userId],
    );
  }

  private async drop(tables: readonly string[], userId: string): Promise<void> {
    for (const table of tables)
      await this.database.query(`delete from onboarding.${table} where user_id = $1`, [userId]);
  }
}
