import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The orders of the sandbox provider, and what was found on the chain for them (ADR 118). */
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
        cancelled_at timestamptz,
        -- Transfers that are no deposits: too small, too many small ones, or more than there is.
        ignored_transfers bigint not null default 0,
        ignored_minor numeric not null default 0
      );

      create unique index sandbox_orders_address on exchange.sandbox_orders (lower(deposit_address));

      -- Up to block_number everything is confirmed and stored, up to seen_number everything was seen.
      create table exchange.scan_cursors (
        chain_id bigint primary key,
        block_number bigint not null,
        block_hash text not null,
        seen_number bigint not null,
        seen_hash text not null,
        complete_until timestamptz,
        scanned_at timestamptz not null default now(),
        held_by uuid,
        held_until timestamptz not null default now(),
        fence bigint not null default 0
      );

      -- Where the cursor stood last: what a reorganisation is followed back by.
      create table exchange.scanned_blocks (
        chain_id bigint not null,
        block_number bigint not null,
        block_hash text not null,
        primary key (chain_id, block_number)
      );

      create table exchange.deposits (
        chain_id bigint not null,
        transaction_hash text not null,
        -- Among the transfers of the token in its transaction, from 0: the same in whatever block it is.
        place integer not null,
        order_id uuid not null,
        amount_minor numeric not null,
        block_number bigint not null,
        block_hash text not null,
        block_at timestamptz not null,
        found_at timestamptz not null default now(),
        -- A reorganisation that was deeper than the confirmations took it off the chain.
        missing_since timestamptz,
        primary key (chain_id, transaction_hash, place)
      );
      create index deposits_of_order on exchange.deposits (order_id, block_number, transaction_hash, place);
      create index deposits_by_block on exchange.deposits (chain_id, block_number);

      create table exchange.deposits_under_way (
        chain_id bigint not null,
        transaction_hash text not null,
        place integer not null,
        order_id uuid not null,
        block_number bigint not null,
        block_hash text not null,
        primary key (chain_id, transaction_hash, place)
      );
      create index deposits_under_way_of_order on exchange.deposits_under_way (order_id);
      create index deposits_under_way_by_block on exchange.deposits_under_way (chain_id, block_number);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table exchange.deposits_under_way, exchange.deposits, exchange.scanned_blocks, exchange.scan_cursors,
        exchange.sandbox_orders;
      drop sequence exchange.sandbox_address_index;
    `);
  }
}
