import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What SideShift agreed to for an order, and what it has said since (ADR 0119). */
export class SideShift1764000000940 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table exchange.sideshift_shifts (
        order_id uuid primary key,
        shift_id text not null unique,
        created_at timestamptz not null default now(),
        agreed text not null,
        mac text not null,
        seen jsonb not null default '{}'
      );
      comment on table exchange.sideshift_shifts is 'one row per order at SideShift: what an order stands for there, before anybody is told its address';
      comment on column exchange.sideshift_shifts.seen is 'deposits by their ids, as they were seen: what SideShift says later must not deny them';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table exchange.sideshift_shifts');
  }
}
