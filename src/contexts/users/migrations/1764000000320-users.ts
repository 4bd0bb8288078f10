import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Users by their wallet address, and what stands in the way of a deactivation. No personal data in any of it. */
export class Users1764000000320 implements MigrationInterface {
  static readonly replaces = ['Users1764000000300', 'WalletsByAddress1764000000310'];
  /** Of the last one that it replaces: a database which has that one has all of this. */
  readonly name = 'PayoutIntents1764000000320';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema users;

      create table users.wallets (
        user_id uuid primary key,
        merchant_id uuid not null,
        address text not null
      );
      create index wallets_by_address on users.wallets (merchant_id, address);
      -- Whether any user, of whatever merchant, has a wallet.
      create index wallets_by_address_alone on users.wallets (address);

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
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema users cascade');
  }
}
