import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Onboardings that wait for the service to go on, and the one-time codes sent to phones. */
export class Onboarding1764000000400 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema if not exists onboarding;
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
        attempts_left int not null
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema onboarding cascade');
  }
}
