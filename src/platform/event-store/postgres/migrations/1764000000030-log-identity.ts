import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which log this is: beside the events, wherever they are in PostgreSQL. */
export const LOG_IDENTITY_SCHEMA = `
  create table if not exists event_store.log_identity (
    only_row boolean primary key default true check (only_row),
    log_id uuid not null default gen_random_uuid()
  );
  insert into event_store.log_identity default values on conflict do nothing`;

/** The log of this database, and the log that its read models and checkpoints were made from (ADR 102). */
export class LogIdentity1764000000030 implements MigrationInterface {
  readonly name = 'LogIdentity1764000000030';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(LOG_IDENTITY_SCHEMA);
    await runner.query(`
      create table event_store.followed_log (
        only_row boolean primary key default true check (only_row),
        log_id uuid not null
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table event_store.followed_log');
    await runner.query('drop table event_store.log_identity');
  }
}
