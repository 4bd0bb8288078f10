import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Webhooks1764000000600 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema webhooks;

      -- What merchants read of their endpoints.
      create table webhooks.endpoints (
        endpoint_id uuid primary key,
        merchant_id uuid not null,
        url text not null,
        description text,
        event_types jsonb,
        status text not null,
        disabled_cause text,
        created_at text not null,
        updated_at text not null,
        -- Position of the last event that changed this row. A deleted endpoint keeps its row, so that an old event
        -- does not bring it back.
        position text not null
      );
      create index endpoints_of_merchant on webhooks.endpoints (merchant_id) where status <> 'deleted';

      -- Where deliveries go, as of the checkpoint of the saga that makes them. A deleted endpoint keeps its row.
      create table webhooks.lanes (
        endpoint_id uuid primary key,
        merchant_id uuid not null,
        url text not null,
        event_types jsonb,
        sealed_signing_secret text not null,
        status text not null check (status in ('enabled', 'disabled', 'deleted')),
        -- Position of the last event that changed this row.
        position text not null
      );
      create index lanes_of_merchant on webhooks.lanes (merchant_id) where status <> 'deleted';

      -- The truth about what is to be sent: one row per event and endpoint.
      create table webhooks.deliveries (
        delivery_id uuid primary key,
        endpoint_id uuid not null,
        merchant_id uuid not null,
        type text not null,
        body text not null,
        is_test boolean not null,
        state text not null default 'pending' check (state in ('pending', 'succeeded', 'exhausted', 'dropped')),
        attempts int not null default 0,
        created_at timestamptz not null default clock_timestamp(),
        due_at timestamptz not null default clock_timestamp(),
        finished_at timestamptz,
        traceparent text,
        -- The process that is sending it.
        leased_by uuid
      );
      alter table webhooks.deliveries alter column body set storage external;
      create index deliveries_due on webhooks.deliveries (endpoint_id, due_at)
        where state = 'pending' and leased_by is null;
      create index deliveries_next on webhooks.deliveries (due_at) where state = 'pending' and leased_by is null;
      create index deliveries_leased on webhooks.deliveries (leased_by) where leased_by is not null;
      create index deliveries_of_endpoint on webhooks.deliveries (endpoint_id, created_at, delivery_id);

      create table webhooks.attempts (
        delivery_id uuid not null,
        attempt int not null,
        endpoint_id uuid not null,
        started_at timestamptz not null,
        duration_ms int not null,
        outcome text not null,
        http_status int,
        -- Where it broke (address, dns, connect, tls, send, answer, timeout), and what the code was.
        failure_phase text,
        error text,
        response_excerpt bytea,
        primary key (delivery_id, attempt)
      );
      -- Failures of an endpoint within a window, for automatic disabling.
      create index attempts_failed on webhooks.attempts (endpoint_id, started_at) where outcome <> 'succeeded';

      -- Processes that send. A lease of one that stopped beating is free again.
      create table webhooks.senders (
        sender_id uuid primary key,
        seen_at timestamptz not null
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema webhooks cascade');
  }
}
