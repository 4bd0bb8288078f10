import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';

export interface StripeCardRow {
  readonly generation: number;
  readonly first_requested_at: Date;
  readonly last_requested_at: Date;
  readonly cardholder_id: string | null;
  readonly card_id: string | null;
  readonly forgotten_at: Date | null;
}

const COLUMNS = 'generation, first_requested_at, last_requested_at, cardholder_id, card_id, forgotten_at';

/** Written before a request to Stripe and after its response, so that every object can be found again. */
@Injectable()
export class StripeCards {
  constructor(private readonly database: Database) {}

  /** Before a request to Stripe. */
  async begin(userId: string): Promise<StripeCardRow> {
    const [row] = await this.database.query<StripeCardRow & Record<string, unknown>>(
      `insert into onboarding.stripe_cards (user_id) values ($1)
       on conflict (user_id) do update set last_requested_at = now() returning ${COLUMNS}`,
      [userId],
    );
    return row!;
  }

  /** Returns the first id that was stored; null once the person is erased. */
  async keep(column: 'cardholder_id' | 'card_id', userId: string, id: string): Promise<string | null> {
    const [row] = await this.database.query<{ id: string }>(
      `update onboarding.stripe_cards set ${column} = coalesce(${column}, $2)
       where user_id = $1 and forgotten_at is null returning ${column} as id`,
      [userId, id],
    );
    return row?.id ?? null;
  }

  async isForgotten(userId: string): Promise<boolean> {
    const forgotten = await this.database.query(
      'select from onboarding.stripe_cards where user_id = $1 and forgotten_at is not null',
      [userId],
    );
    return forgotten.length > 0;
  }

  /** The idempotency keys of `generation` only return a failure. A repeat changes nothing. */
  async nextGeneration(userId: string, generation: number): Promise<void> {
    await this.database.query(
      `update onboarding.stripe_cards set generation = generation + 1 where user_id = $1 and generation = $2`,
      [userId, generation],
    );
  }

  /** No card is requested from now on. Null for a user without earlier requests. */
  async forgotten(userId: string): Promise<StripeCardRow | null> {
    const [row] = await this.database.query<StripeCardRow & { is_new: boolean } & Record<string, unknown>>(
      `insert into onboarding.stripe_cards (user_id, forgotten_at) values ($1, now())
       on conflict (user_id) do update set forgotten_at = coalesce(stripe_cards.forgotten_at, now())
       returning ${COLUMNS}, xmax = 0 as is_new`,
      [userId],
    );
    return row!.is_new ? null : row!;
  }
}
