import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Users by their wallet address. No personal data in it. */
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
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema users cascade');
  }
}
