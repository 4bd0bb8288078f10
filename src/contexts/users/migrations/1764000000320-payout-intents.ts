import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Payouts that may still be reported to a user; empty where the events are in PostgreSQL (ADR 103). */
export class PayoutIntents1764000000320 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table users.payout_intents (
        payout_id uuid primary key,
        user_id uuid not null
      );
      create index payout_intents_by_user on users.payout_intents (user_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table users.payout_intents');
  }
}
