import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Platform1795000000101 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema platform;

      -- A row without a key says that the person was forgotten, so that no new key is created.
      create table platform.personal_keys (
        subject text collate "C" not null primary key,
        wrapped_key text,
        forgotten_at timestamptz
      );

      -- Each key of the ring in one copy per master key that opens it.
      create table platform.key_ring (
        key_id text collate "C" not null,
        master_id text collate "C" not null,
        wrapped_key text not null,
        -- Null for the root, which seals nothing.
        seals_from timestamptz,
        created_at timestamptz not null default now(),
        -- Since when no personal key is wrapped by an older key.
        resealed_at timestamptz,
        -- Of the root's copies: when a process with this master key was last here.
        seen_at timestamptz,
        primary key (key_id, master_id)
      );

      -- What operations of operators changed outside the log, written with the change: no event names it there.
      create table platform.operation_changes (
        operation_id uuid not null,
        what text collate "C" not null,
        id text collate "C" not null,
        changed_at timestamptz not null,
        primary key (operation_id, what, id)
      );

      -- The processes that run, and what each reports about itself; one that stopped beating is dropped.
      create unlogged table platform.processes (
        process_id uuid primary key,
        version text not null,
        roles text[] not null,
        started_at timestamptz not null,
        seen_at timestamptz not null,
        clock_skew_ms double precision not null,
        facts jsonb not null
      ) with (fillfactor = 50);

      -- In the form that rate-limiter-flexible expects. Unlogged: losing counters is harmless.
      create unlogged table platform.rate_limits (
        key varchar(255) primary key,
        points integer not null default 0,
        expire bigint
      ) with (fillfactor = 50);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema platform cascade');
  }
}
