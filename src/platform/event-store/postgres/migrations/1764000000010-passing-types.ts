import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Types of events that subscriptions may go past though no version here knows them (ADR 96). */
export class PassingTypes1764000000010 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create table event_store.passing_types (
      type text not null primary key,
      reason text not null,
      allowed_at timestamptz not null
    )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table event_store.passing_types');
  }
}
