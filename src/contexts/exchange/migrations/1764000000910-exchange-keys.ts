import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The API keys of the exchange, and their (sealed) secrets. */
export class ExchangeKeys1764000000910 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table exchange.keys (
        key_id uuid primary key,
        merchant_id uuid not null,
        label text,
        demands_signature boolean not null,
        memo_signing text not null,
        cidrs text[] not null default '{}',
        logo text,
        help_url text,
        terms_url text,
        issued_at timestamptz not null,
        revoked_at timestamptz
      );
      create table exchange.key_secrets (
        secret_id uuid primary key,
        key_id uuid not null,
        sealed_secret text not null,
        issued_at timestamptz not null,
        revoked_at timestamptz
      );
      create index key_secrets_of_key on exchange.key_secrets (key_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table exchange.key_secrets, exchange.keys');
  }
}
