import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Data keys of persons. A row without a key says that the person was forgotten, so that no new key is made. */
export class PersonalKeys1764000000110 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create schema if not exists platform');
    await runner.query(`
      create table platform.personal_keys (
        subject text collate "C" not null primary key,
        wrapped_key text,
        created_at timestamptz not null default now(),
        forgotten_at timestamptz
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table platform.personal_keys');
  }
}
