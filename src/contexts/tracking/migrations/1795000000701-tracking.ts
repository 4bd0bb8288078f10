import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Tracking1795000000701 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema tracking;

      -- The raw body stays until its events are processed and forwarded, and for TRACKING_RAW_DAYS.
      create table tracking.batches (
        batch_id uuid primary key,
        merchant_id uuid not null,
        -- The precision of a JavaScript Date.
        received_at timestamptz(3) not null,
        item_count int not null,
        -- The raw request body.
        body bytea not null,
        state text not null default 'accepted' check (state in ('accepted', 'processed', 'forwarded', 'failed')),
        -- One bit per item, the first in the highest bit of the first byte: set when the item was new.
        new_items bytea,
        processed_at timestamptz,
        -- The due time of forwarding and the count of failures.
        forward_at timestamptz,
        forward_attempts int not null default 0,
        error text,
        -- A bitmap like new_items: accepted or refused items.
        forward_done bytea
      );
      alter table tracking.batches alter column body set storage external;
      create index batches_accepted on tracking.batches (merchant_id, received_at) where state = 'accepted';
      create index batches_to_forward on tracking.batches (forward_at) where state = 'processed';
      create index batches_finished on tracking.batches (received_at) where state in ('forwarded', 'failed');

      -- One row per event: its id counts once per merchant (ADR 82).
      create table tracking.events (
        merchant_id uuid not null,
        event_id uuid not null,
        received_at timestamptz not null,
        user_external_id text collate "C" not null,
        event_name text collate "C" not null,
        event_datetime timestamptz not null,
        device_id text,
        payload text not null,
        primary key (merchant_id, event_id)
      );
      create index events_of_user on tracking.events (merchant_id, user_external_id, event_datetime, event_id);
      create index events_by_age on tracking.events (received_at);

      insert into work.items (kind, key, due_at) values ('tracking.forwarding', 'analytics', now());

      -- Events that the provider refuses permanently.
      create table tracking.refused_events (
        merchant_id uuid not null,
        event_id uuid not null,
        batch_id uuid not null,
        reason text not null,
        refused_at timestamptz not null default clock_timestamp(),
        primary key (merchant_id, event_id)
      );
      create index refused_events_by_age on tracking.refused_events (refused_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema tracking cascade');
  }
}
