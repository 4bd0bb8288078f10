import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Webhooks1795000000662 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema webhooks;

      -- Endpoints as of the checkpoint of the deliveries saga. A deleted endpoint keeps its row, so that a repeated event
      -- does not restore it.
      create table webhooks.endpoint_snapshots (
        endpoint_id uuid primary key,
        merchant_id uuid not null,
        url text not null,
        description text,
        event_types jsonb,
        sealed_signing_secret text not null,
        status text not null check (status in ('enabled', 'disabled', 'deleted')),
        disabled_cause text,
        disabled_at timestamptz(3),
        -- The position of the last event of this row.
        position text not null,
        -- Attempts that began earlier do not count as failures: enabling an endpoint clears its count.
        failures_since timestamptz not null default '-infinity',
        -- Replaced secrets that still sign: [{"sealed": text, "expires_at": ISO 8601}], newest first.
        former_secrets jsonb not null default '[]',
        -- As exact as a cursor of the lists of it.
        created_at timestamptz(3) not null default clock_timestamp(),
        updated_at timestamptz(3) not null default clock_timestamp()
      );
      create index endpoint_snapshots_of_merchant on webhooks.endpoint_snapshots (merchant_id, created_at, endpoint_id)
        where status <> 'deleted';
      create index endpoint_snapshots_newest on webhooks.endpoint_snapshots (created_at, endpoint_id)
        where status <> 'deleted';
      create index endpoint_snapshots_by_status on webhooks.endpoint_snapshots (status, created_at, endpoint_id)
        where status <> 'deleted';
      -- Lists of the merchant include their deliveries.
      create index endpoint_snapshots_deleted on webhooks.endpoint_snapshots (merchant_id) where status = 'deleted';

      -- One row per event and endpoint.
      create table webhooks.deliveries (
        delivery_id uuid primary key,
        endpoint_id uuid not null,
        merchant_id uuid not null,
        type text not null,
        body text not null,
        is_test boolean not null,
        -- Over the columns above, by a key of the ring. A delivery without it is not sent.
        mac text,
        state text not null default 'pending' check (state in ('pending', 'succeeded', 'exhausted', 'dropped')),
        attempts int not null default 0,
        -- As exact as a list's cursor: a finer time would lose rows between two pages.
        created_at timestamptz(3) not null default clock_timestamp(),
        due_at timestamptz not null default clock_timestamp(),
        finished_at timestamptz,
        traceparent text,
        -- The process that is sending it.
        leased_by uuid,
        -- Attempts of earlier rounds: a resend restarts the retry schedule, and the attempt numbers continue.
        attempts_before int not null default 0,
        -- A resend was requested while an attempt was in flight: unless that succeeds, a new round follows it.
        resend_requested boolean not null default false,
        -- The position of the last resend: a repeated event begins no further round.
        resent_position text
      );
      alter table webhooks.deliveries alter column body set storage external;
      -- Only by endpoint: with an index by time PostgreSQL reads through the backlog of a large endpoint.
      create index deliveries_due on webhooks.deliveries (endpoint_id, due_at)
        where state = 'pending' and leased_by is null;
      create index deliveries_leased on webhooks.deliveries (leased_by) where leased_by is not null;
      create index deliveries_of_endpoint on webhooks.deliveries (endpoint_id, created_at, delivery_id);
      -- For recoveries and lists.
      create index deliveries_unsent on webhooks.deliveries (endpoint_id, created_at, delivery_id)
        where state in ('exhausted', 'dropped');
      -- For lists over all merchants. New rows are at its end, so that it costs little (docs/benchmarks.md).
      create index deliveries_newest on webhooks.deliveries (created_at, delivery_id);
      create index deliveries_exhausted on webhooks.deliveries (created_at, delivery_id) where state = 'exhausted';
      create index deliveries_dropped on webhooks.deliveries (created_at, delivery_id) where state = 'dropped';

      create table webhooks.attempts (
        delivery_id uuid not null,
        attempt int not null,
        endpoint_id uuid not null,
        started_at timestamptz not null,
        duration_ms int not null,
        outcome text not null,
        http_status int,
        -- The phase (address, dns, connect, tls, send, response, timeout), and the code.
        failure_phase text,
        error text,
        response_excerpt bytea,
        primary key (delivery_id, attempt)
      );
      -- For automatic disabling.
      create index attempts_failed on webhooks.attempts (endpoint_id, started_at) where outcome <> 'succeeded';

      -- Sending processes. The leases of one without a recent heartbeat are released.
      create table webhooks.senders (
        sender_id uuid primary key,
        seen_at timestamptz not null
      );

      -- Requested recoveries, performed in chunks.
      create table webhooks.recoveries (
        recovery_id uuid primary key,
        endpoint_id uuid not null,
        merchant_id uuid not null,
        since timestamptz not null,
        -- A delivery that finishes later is not resent, so that each is resent once.
        accepted_at timestamptz not null default clock_timestamp(),
        finished_at timestamptz,
        recovered int not null default 0,
        -- The cursor of the next chunk.
        after_created_at timestamptz(3),
        after_delivery_id uuid
      );
      create index recoveries_open on webhooks.recoveries (endpoint_id, accepted_at) where finished_at is null;
      create index recoveries_ended on webhooks.recoveries (finished_at) where finished_at is not null;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema webhooks cascade');
  }
}
