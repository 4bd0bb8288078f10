import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How far events were passed on to the analytics provider, and what it refused. */
export class Forwarding1764000000720 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Bits as in new_items: set when the provider took or refused the item. Null: none yet.
      alter table tracking.batches add column forward_done bytea;

      -- One row: who forwards now, and how the provider is.
      create table tracking.forwarding (
        only_row boolean primary key default true check (only_row),
        held_by uuid,
        held_until timestamptz not null default '-infinity',
        -- While the provider is away: when it may be tried again, how often that failed, why, and since when.
        paused_until timestamptz not null default '-infinity',
        failures int not null default 0,
        cause text,
        failing_since timestamptz
      );
      insert into tracking.forwarding default values;

      -- Events that the provider will never take.
      create table tracking.refused_events (
        merchant_id uuid not null,
        event_id uuid not null,
        batch_id uuid not null,
        reason text not null,
        refused_at timestamptz not null default clock_timestamp(),
        primary key (merchant_id, event_id)
      );
      create index refused_events_by_age on tracking.refused_events (refused_at);

      -- Payloads may hold what jsonb cannot: U+0000, lone surrogates.
      alter table tracking.sandbox_analytics alter column event type json;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table tracking.sandbox_analytics alter column event type jsonb;
      drop table tracking.refused_events;
      drop table tracking.forwarding;
      alter table tracking.batches drop column forward_done;
    `);
  }
}
