import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The merchant directory: who may call, with which (sealed) private keys, from where, and which sites may embed its pages. */
export class Merchants1795000000200 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema merchants;

      create table merchants.directory (
        merchant_id uuid primary key,
        name text not null,
        status text not null,
        ip_allow_list text[] not null default '{}',
        registered_at timestamptz not null,
        -- Which sites may embed its pages, where these lead back to, and what people read for the merchant.
        origins text[] not null default '{}',
        callbacks text[] not null default '{}',
        shown_as text
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
