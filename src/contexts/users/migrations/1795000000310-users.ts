import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Users1795000000310 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema users;

      create table users.users (
        user_id uuid primary key,
        merchant_id uuid not null,
        external_id text,
        -- The index in onboarding, active, deactivating, deactivated, erased; it only grows.
        state smallint not null,
        -- The precision of a page cursor: a finer time would lose rows between pages.
        created_at timestamptz(3) not null,
        -- EIP-55 checksummed.
        wallet text,
        changed_at timestamptz(3) not null
      );
      -- The lists of operators, newest first.
      create index users_newest on users.users (created_at, user_id);
      create index users_of_merchant on users.users (merchant_id, created_at, user_id);
      create index users_by_state on users.users (state, created_at, user_id);
      create index users_of_merchant_by_state on users.users (merchant_id, state, created_at, user_id);
      create index users_by_external_id on users.users (external_id) where external_id is not null;
      create index users_by_wallet on users.users (lower(wallet)) where wallet is not null;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema users cascade');
  }
}
