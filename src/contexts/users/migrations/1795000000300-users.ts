import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Users by their wallet address. */
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
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema users cascade');
  }
}
