import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Users by their wallet address, what a deactivation waits for, and what erasures still have to drop. No personal data in any of it. */
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

      create table users.deactivations (
        user_id uuid primary key,
        pending_payouts bigint not null default 0,
        deactivating boolean not null default false,
        position text not null
      );
      create index deactivations_ready on users.deactivations (user_id)
        where deactivating and pending_payouts = 0;

      -- Payouts that may still be reported to a user; empty where the events are in PostgreSQL (ADR 103).
      create table users.payout_intents (
        payout_id uuid primary key,
        user_id uuid not null
      );
      create index payout_intents_by_user on users.payout_intents (user_id);

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
