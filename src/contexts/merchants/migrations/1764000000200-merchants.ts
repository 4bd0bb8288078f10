import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The merchant directory: who may call, with which (sealed) private keys, from where. */
export class Merchants1764000000200 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema if not exists merchants;
      create table merchants.directory (
        merchant_id uuid primary key,
        name text not null,
        status text not null,
        ip_allow_list text[] not null default '{}',
        registered_at timestamptz not null
      );
      create table merchants.keys (
        key_id uuid primary key,
        merchant_id uuid not null,
        sealed_private_key text not null,
        issued_at timestamptz not null,
        revoked_at timestamptz
      );
      create index keys_of_merchant on merchants.keys (merchant_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema merchants cascade');
  }
}
