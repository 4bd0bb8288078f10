import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Users by their wallet address, and what stands in the way of a deactivation. No personal data in either. */
export class Users1764000000300 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema if not exists users;
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
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema users cascade');
  }
}
