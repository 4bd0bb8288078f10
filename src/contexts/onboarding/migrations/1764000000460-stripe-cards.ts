import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What was asked of Stripe for the card of a user, and what came of it: ids alone. */
export class StripeCards1764000000460 implements MigrationInterface {
  readonly name = 'StripeCards1764000000460';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table onboarding.stripe_cards (
        user_id uuid primary key,
        -- Part of the idempotency keys; grows when Stripe would give the same failure again.
        generation int not null default 1,
        -- Whatever was made for the user was made in between.
        first_asked_at timestamptz not null default now(),
        last_asked_at timestamptz not null default now(),
        cardholder_id text,
        card_id text,
        -- The person is forgotten: no card is asked for any more.
        forgotten_at timestamptz
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table onboarding.stripe_cards');
  }
}
