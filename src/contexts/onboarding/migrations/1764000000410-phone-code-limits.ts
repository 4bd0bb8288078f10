import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What limits codes per user: when they were sent and guessed wrong in the last day, and when the next may be sent. */
export class PhoneCodeLimits1764000000410 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table onboarding.phone_codes
        add column next_at timestamptz not null default now(),
        add column sent_at timestamptz[] not null default '{}',
        add column guessed_at timestamptz[] not null default '{}'
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table onboarding.phone_codes drop column next_at, drop column sent_at, drop column guessed_at',
    );
  }
}
