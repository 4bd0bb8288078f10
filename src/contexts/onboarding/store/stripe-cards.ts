import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';

/** What is known of the card of a user at Stripe. */
export interface AskedCard {
  readonly generation: number;
  readonly first_asked_at: Date;
  readonly last_asked_at: Date;
  readonly cardholder_id: string | null;
  readonly card_id: string | null;
  readonly forgotten_at: Date | null;
}

const COLUMNS = 'generation, first_asked_at, last_asked_at, cardholder_id, card_id, forgotten_at';

/** Written before Stripe is asked and after it has answered, so that whatever it made is found again. */
@Injectable()
export class StripeCards {
  constructor(private readonly database: Database) {}

  /** Stripe is about to be asked. */
  async asked(userId: string): Promise<AskedCard> {
    const [row] = await this.database.query<AskedCard & Record<string, unknown>>(
      `insert into onboarding.stripe_cards (user_id) values ($1)
       on conflict (user_id) do update set last_asked_at = now() returning ${COLUMNS}`,
      [userId],
    );
    return row!;
  }

  /** Gives the cardholder that counts: the first that was kept; null once the person is forgotten. */
  async keepCardholder(userId: string, cardholderId: string): Promise<string | null> {
    const [row] = await this.database.query<{ cardholder_id: string }>(
      `update onboarding.stripe_cards set cardholder_id = coalesce(cardholder_id, $2)
       where user_id = $1 and forgotten_at is null returning cardholder_id`,
      [userId, cardholderId],
    );
    return row?.cardholder_id ?? null;
  }

  /** Gives the card that counts: the first that was kept; null once the person is forgotten. */
  async keepCard(userId: string, cardId: string): Promise<string | null> {
    const [row] = await this.database.query<{ card_id: string }>(
      `update onboarding.stripe_cards set card_id = coalesce(card_id, $2)
       where user_id = $1 and forgotten_at is null returning card_id`,
      [userId, cardId],
    );
    return row?.card_id ?? null;
  }

  async isForgotten(userId: string): Promise<boolean> {
    const forgotten = await this.database.query(
      'select from onboarding.stripe_cards where user_id = $1 and forgotten_at is not null',
      [userId],
    );
    return forgotten.length > 0;
  }

  /** The idempotency keys of `generation` give no more than a failure; whoever comes second changes nothing. */
  async nextGeneration(userId: string, generation: number): Promise<void> {
    await this.database.query(
      `update onboarding.stripe_cards set generation = generation + 1 where user_id = $1 and generation = $2`,
      [userId, generation],
    );
  }

  /** No card is asked for any more. Gives what was asked for until then; null for a user who never came so far. */
  async forgotten(userId: string): Promise<AskedCard | null> {
    const [row] = await this.database.query<AskedCard & { is_new: boolean } & Record<string, unknown>>(
      `insert into onboarding.stripe_cards (user_id, forgotten_at) values ($1, now())
       on conflict (user_id) do update set forgotten_at = coalesce(stripe_cards.forgotten_at, now())
       returning ${COLUMNS}, xmax = 0 as is_new`,
      [userId],
    );
    return row!.is_new ? null : row!;
  }
}
