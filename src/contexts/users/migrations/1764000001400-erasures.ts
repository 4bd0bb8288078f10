import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What of erased persons is still to be dropped; empty most of the time. */
export class Erasures1764000001400 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table users.erasures (
        user_id uuid not null,
        -- Name of the context that has to drop what it keeps.
        part text not null,
        due_at timestamptz not null default now(),
        attempts int not null default 0,
        -- Why the last attempt failed.
        cause text,
        primary key (user_id, part)
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table users.erasures');
  }
}
