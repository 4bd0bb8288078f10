import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The orders of the sandbox provider, and what was found on the chain for them (ADR 146). */
export class ExchangeSandboxProvider1764000000930 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- The next child of the extended public key. A number that was drawn is never drawn again, whatever became of it.
      create sequence exchange.sandbox_address_index as integer minvalue 0 start 0;

      create table exchange.sandbox_orders (
        order_id uuid primary key,
        address_index integer not null unique,
        deposit_address text not null,
        pair_id text not null,
        amount_from text not null,
        amount_to text not null,
        rate text not null,
        minimum text not null,
        maximum text not null,
        expires_at timestamptz not null,
        created_at timestamptz not null default now(),
        settled_at timestamptz,
        settled_amount_to text,
        -- Made with the key ring: a settlement that another process wrote is none.
        settled_mac text,
        cancelled_at timestamptz
      );

      create unique index sandbox_orders_address on exchange.sandbox_orders (lower(deposit_address));

      create table exchange.sandbox_scan (
        -- Number and hash of blocks up to which everything is stored, newest first: by them a reorganisation is followed back.
        places jsonb not null default '[]',
        revision bigint not null default 0,
        complete_until timestamptz,
        scanned_at timestamptz
      );
      insert into exchange.sandbox_scan default values;

      create table exchange.deposits (
        transaction_hash text not null,
        -- Of its log among those of its block.
        place integer not null,
        block_hash text not null,
        order_id uuid not null,
        amount_minor numeric not null,
        block_number bigint not null,
        block_at timestamptz not null,
        found_at timestamptz not null default now(),
        -- A reorganisation took it off the chain.
        missing_since timestamptz,
        primary key (transaction_hash, place, block_hash, order_id, amount_minor)
      );
      create index deposits_of_order on exchange.deposits (order_id, block_number, transaction_hash, place);
      create index deposits_by_block on exchange.deposits (block_number);

      -- Small transfers after the first hundred to an address, by the step of the scan that found them.
      create table exchange.sandbox_dust (
        order_id uuid not null,
        block_number bigint not null,
        transfers bigint not null,
        amount_minor numeric not null,
        primary key (order_id, block_number)
      );
      create index sandbox_dust_by_block on exchange.sandbox_dust (block_number);

      -- Orders with a transfer that lacks confirmations.
      create table exchange.awaited_deposits (order_id uuid primary key);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table exchange.awaited_deposits, exchange.sandbox_dust, exchange.deposits, exchange.sandbox_scan,
        exchange.sandbox_orders;
      drop sequence exchange.sandbox_address_index;
    `);
  }
}
