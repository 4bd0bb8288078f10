import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is found of orders at their providers (ADR 117). */
export class ExchangeOrders1764000000920 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table exchange.watches (
        order_id uuid primary key,
        key_id uuid not null,
        pair_id text not null,
        provider text not null,
        created_at timestamptz not null,
        status text not null,
        owed numeric not null default 0,
        -- What was exchanged or refunded although its deposits are no longer on the chain.
        shortfall numeric not null default 0,
        late_outcomes text[] not null default '{}',
        -- What the provider was notified of last: settle or cancel.
        told text
      ) with (fillfactor = 70);
      comment on table exchange.watches is 'one row per order: what the last poll of it found';
      create index watches_open on exchange.watches (status, created_at)
        where status in ('pending', 'paid', 'processing');
      create index watches_owed on exchange.watches (created_at) where owed > 0;
      create index watches_shortfall on exchange.watches (created_at) where shortfall > 0;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table exchange.watches');
  }
}
