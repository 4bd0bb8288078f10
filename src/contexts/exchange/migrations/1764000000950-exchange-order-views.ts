import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Read model of orders: a row each, and counts by day and hour (ADR 120). */
export class ExchangeOrderViews1764000000950 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table exchange.orders (
        id uuid primary key,
        key_scope uuid not null,
        user_scope uuid,
        address_scope uuid not null,
        user_address_scope uuid,
        status smallint not null check (status between 0 and 7),
        created_at timestamptz not null,
        revision bigint not null,
        events text not null,
        body text not null
      ) with (toast_tuple_target = 512);
      comment on table exchange.orders is 'one row per order; a scope is all orders that one choice of filters finds, whatever their status';
      comment on column exchange.orders.key_scope is 'the id of the key';
      comment on column exchange.orders.status is
        '0 pending, 1 paid, 2 processing, 3 completed, 4 cancelled, 5 expired, 6 failed, 7 refunded';
      comment on column exchange.orders.revision is 'of the last event that is in the row';
      comment on column exchange.orders.events is 'type and data of all of them, personal fields sealed, from which the order is folded with the next one';
      comment on column exchange.orders.body is 'the order as the API displays it, byte for byte where personal fields, which are sealed, are null';
      -- A list reads bodies alone: they stand in the row, and events beside it.
      alter table exchange.orders alter column body set storage main;
      alter table exchange.orders alter column events set storage external;

      -- One index per scope serves every status: a list without one merges all of them.
      create index orders_by_key on exchange.orders (key_scope, status, created_at desc, id desc);
      create index orders_by_user on exchange.orders (user_scope, status, created_at desc, id desc)
        where user_scope is not null;
      create index orders_by_address on exchange.orders (address_scope, status, created_at desc, id desc);
      create index orders_by_user_address on exchange.orders (user_address_scope, status, created_at desc, id desc)
        where user_address_scope is not null;

      -- Half-empty pages keep the updates of counts on their page and out of the index.
      create table exchange.order_counts (
        scope uuid not null,
        hours smallint not null check (hours in (1, 24)),
        starts_at timestamptz not null,
        pending integer not null,
        paid integer not null,
        processing integer not null,
        completed integer not null,
        cancelled integer not null,
        expired integer not null,
        failed integer not null,
        refunded integer not null,
        primary key (scope, hours, starts_at)
      ) with (fillfactor = 50);
      comment on table exchange.order_counts is 'how many orders of a scope were made on a day, and of a key in an hour, by the status that they have now';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table exchange.orders, exchange.order_counts');
  }
}
