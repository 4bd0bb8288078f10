import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The one-time codes sent to phones. */
export class Onboarding1764000000410 implements MigrationInterface {
  static readonly replaces = ['Onboarding1764000000400'];
  /** Of the last one that it replaces: a database which has that one has all of this. */
  readonly name = 'PhoneCodeLimits1764000000410';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema onboarding;

      -- One row for each message of the last 24 hours.
      create table onboarding.phone_codes (
        id uuid primary key,
        user_id uuid not null,
        -- Keyed hashes. Only this browser may enter a short code; the address counts what it requests.
        browser_hash text not null,
        address_hash text,
        code_hash text not null,
        is_long boolean not null,
        attempts_left int not null,
        sent_at timestamptz not null default now()
      );
      create index phone_codes_user on onboarding.phone_codes (user_id);
      create index phone_codes_address on onboarding.phone_codes (address_hash);
      create index phone_codes_sent on onboarding.phone_codes (sent_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema onboarding cascade');
  }
}
