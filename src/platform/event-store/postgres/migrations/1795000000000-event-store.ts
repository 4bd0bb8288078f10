import type { MigrationInterface, QueryRunner } from 'typeorm';
import { LOG_SCHEMA } from '../schema.js';

export class EventStore1795000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(LOG_SCHEMA);
    await runner.query(`
      -- The log that the read models and checkpoints of this database were built from (ADR 102).
      create table event_store.followed_log (
        only_row boolean primary key default true check (only_row),
        log_id uuid not null
      );

      -- Types of events that subscriptions may skip although this version does not know them (ADR 96).
      create table event_store.passing_types (
        type text not null primary key,
        reason text not null,
        allowed_at timestamptz not null
      );

      -- Folded states of long streams. A cache: what is missing here is folded from the events again.
      create table event_store.snapshots (
        stream text collate "C" not null,
        -- Of the code that folded it: others fold another state.
        shape text not null,
        -- The last event that is folded in.
        revision integer not null,
        event_id uuid not null,
        -- Whose key seals the state; null: a key of the ring.
        subject text,
        sealed_state text not null,
        primary key (stream, shape)
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema event_store cascade');
  }
}
