import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Exchange1795000000901 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema exchange;

      create table exchange.orders (
        id uuid primary key,
        key_id uuid not null,
        merchant_id uuid not null,
        user_hash text,
        withdraw_address text not null,
        status smallint not null check (status between 0 and 7),
        created_at timestamptz not null,
        refundable numeric not null,
        -- What was exchanged or refunded although its deposits are no longer on the chain.
        shortfall numeric not null,
        -- Its deposit address and the hashes of its transactions, as searches compare them.
        search_keys text[] not null default '{}',
        revision bigint not null,
        events text not null,
        body text not null
      ) with (toast_tuple_target = 512);
      comment on table exchange.orders is 'one row per order';
      comment on column exchange.orders.user_hash is 'of key and user; null where there is no user, or none any more';
      comment on column exchange.orders.status is
        '0 pending, 1 paid, 2 processing, 3 completed, 4 cancelled, 5 expired, 6 failed, 7 refunded';
      comment on column exchange.orders.revision is 'of the last event that is in the row';
      comment on column exchange.orders.events is 'type and data of all of them, personal fields sealed, from which the order is folded with the next one';
      comment on column exchange.orders.body is 'the order as the API displays it, byte for byte where personal fields, which are sealed, are null';
      -- A list reads bodies alone: they are in the row, events are not.
      alter table exchange.orders alter column body set storage main;
      alter table exchange.orders alter column events set storage external;

      -- One index serves every status: a list without one merges all of them.
      create index orders_by_key on exchange.orders (key_id, status, created_at desc, id desc);
      create index orders_by_user on exchange.orders (user_hash, status, created_at desc, id desc)
        where user_hash is not null;
      create index orders_by_address on exchange.orders (key_id, withdraw_address, status, created_at desc, id desc);
      -- For operators.
      create index orders_by_merchant on exchange.orders (merchant_id, status, created_at desc, id desc);
      create index orders_by_status on exchange.orders (status, created_at desc, id desc);
      create index orders_refundable on exchange.orders (created_at desc, id desc) where refundable > 0;
      create index orders_search_keys on exchange.orders using gin (search_keys);
      create index orders_shortfall on exchange.orders (created_at) where shortfall > 0;

      create table exchange.sideshift_shifts (
        order_id uuid primary key,
        shift_id text not null unique,
        agreed text not null,
        mac text not null
      );
      comment on table exchange.sideshift_shifts is 'one row per order at SideShift: its shift, stored before its address is displayed';

      -- Orders at the sandbox provider (ADR 146).
      create table exchange.sandbox_orders (
        order_id uuid primary key,
        address text not null unique,
        terms jsonb not null,
        first_block integer not null,
        -- Times of all deposits that were ever listed, by their ids: those that left the chain are missing.
        listed jsonb not null default '{}',
        settled_at timestamptz,
        settled_amount_to text,
        -- By a key of the ring: a settlement without it does not count.
        settled_mac text,
        cancelled_at timestamptz
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema exchange cascade');
  }
}
