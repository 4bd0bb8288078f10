import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Onboardings that wait for the service to go on, and the one-time codes sent to phones. */
export class Onboarding1764000000410 implements MigrationInterface {
  static readonly replaces = ['Onboarding1764000000400'];
  /** Of the last one that it replaces: a database which has that one has all of this. */
  readonly name = 'PhoneCodeLimits1764000000410';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema onboarding;

      create table onboarding.steps (
        user_id uuid primary key,
        asked bigint not null default 1,
        due_at timestamptz not null,
        attempts int not null default 0
      );
      create index steps_due on onboarding.steps (due_at);

      create table onboarding.phone_codes (
        user_id uuid primary key,
        code_hash text not null,
        expires_at timestamptz not null,
        attempts_left int not null,
        -- What limits codes per user: when the next may be sent, when they were sent and guessed wrong in the last day.
        next_at timestamptz not null default now(),
        sent_at timestamptz[] not null default '{}',
        guessed_at timestamptz[] not null default '{}'
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema onboarding cascade');
  }
}
