import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The endpoints as deliveries see them, deliveries and attempts, recoveries, and the processes that send. */
export class Webhooks1795000000662 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema webhooks;

      -- Where deliveries go and what lists display, as of the checkpoint of the saga that creates the deliveries. A
      -- deleted endpoint keeps its row, so that an event that comes again does not bring it back.
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
        -- Position of the last event that changed this row.
        position text not null,
        -- Failed attempts that began earlier do not count: enabling an endpoint clears its count.
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
      -- Their deliveries are in lists of the merchant.
      create index endpoint_snapshots_deleted on webhooks.endpoint_snapshots (merchant_id) where status = 'deleted';

      -- The truth about what is to be sent: one row per event and endpoint.
      create table webhooks.deliveries (
        delivery_id uuid primary key,
        endpoint_id uuid not null,
        merchant_id uuid not null,
        type text not null,
        body text not null,
        is_test boolean not null,
        -- By a key of the ring, over the columns above: the service created it. Nothing without it is sent.
        mac text,
        state text not null default 'pending' check (state in ('pending', 'succeeded', 'exhausted', 'dropped')),
        attempts int not null default 0,
        -- As exact as a cursor of the lists of it: a finer time would lose rows between two pages.
        created_at timestamptz(3) not null default clock_timestamp(),
        due_at timestamptz not null default clock_timestamp(),
        finished_at timestamptz,
        traceparent text,
        -- The process that is sending it.
        leased_by uuid,
        -- Attempts of earlier rounds: a resend restarts the retry schedule, the numbers of attempts continue.
        attempts_before int not null default 0,
        -- A resend was requested while an attempt was in flight: unless that succeeds, a new round follows it.
        resend_requested boolean not null default false,
        -- Position of the last resend: an event seen again begins no further round.
        resent_position text
      );
      alter table webhooks.deliveries alter column body set storage external;
      -- What is due is queried by endpoint alone. With an index by time as well, PostgreSQL took that one where it knew
      -- few endpoints, and a claim for a small endpoint read through the backlog of a large one.
      create index deliveries_due on webhooks.deliveries (endpoint_id, due_at)
        where state = 'pending' and leased_by is null;
      create index deliveries_leased on webhooks.deliveries (leased_by) where leased_by is not null;
      create index deliveries_of_endpoint on webhooks.deliveries (endpoint_id, created_at, delivery_id);
      -- What an endpoint did not get, for recovering it and for lists of it.
      create index deliveries_unsent on webhooks.deliveries (endpoint_id, created_at, delivery_id)
        where state in ('exhausted', 'dropped');
      -- Lists over all merchants. New rows are at its end, so that it costs the deliveries little (docs/benchmarks.md).
      create index deliveries_newest on webhooks.deliveries (created_at, delivery_id);
      -- Few, and the first that an operator reads.
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
        -- Where it failed (address, dns, connect, tls, send, response, timeout), and the code.
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

      -- Requested recoveries. A worker does them in chunks; finished_at says that nothing is left.
      create table webhooks.recoveries (
        recovery_id uuid primary key,
        endpoint_id uuid not null,
        merchant_id uuid not null,
        since timestamptz not null,
        -- What ends later than this is not sent again: a delivery that is exhausted a second time stays so.
        accepted_at timestamptz not null default clock_timestamp(),
        finished_at timestamptz,
        recovered int not null default 0,
        -- The last delivery that was read: the next chunk begins after it.
        after_created_at timestamptz(3),
        after_delivery_id uuid
      );
      -- Open ones are queried by endpoint, those that ended long ago by when that was.
      create index recoveries_open on webhooks.recoveries (endpoint_id, accepted_at) where finished_at is null;
      create index recoveries_ended on webhooks.recoveries (finished_at) where finished_at is not null;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema webhooks cascade');
  }
}
