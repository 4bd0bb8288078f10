import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Users by their wallet address, and what erasures still have to drop. No personal data in any of it. */
export class Users1795000000300 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema users;

      create table users.wallets (
        user_id uuid primary key,
        merchant_id uuid not null,
        address text not null
      );
      create index wallets_by_address on users.wallets (merchant_id, address);

      -- What of erased persons is still to be dropped; empty most of the time.
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
    await runner.query('drop schema users cascade');
  }
}
