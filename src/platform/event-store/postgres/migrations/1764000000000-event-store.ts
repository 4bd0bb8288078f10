import type { MigrationInterface, QueryRunner } from 'typeorm';
import { COMMIT_FUNCTION } from '../commit-function.js';

/** Events, the answers of idempotent requests, the checkpoints of subscriptions, and the function that appends. */
export class EventStore1764000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(EVENT_STORE_SCHEMA);
    await runner.query(COMMIT_FUNCTION);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema event_store cascade');
  }
}

/**
 * Statements that may run again: an event store in a database of its own is prepared with them at boot.
 * Bodies are text because their bytes count; fillfactor leaves room for checkpoints to be updated in place.
 */
export const EVENT_STORE_SCHEMA = `
create schema if not exists event_store;

create sequence if not exists event_store.position as bigint;

create table if not exists event_store.events (
  position bigint not null primary key,
  stream text collate "C" not null,
  revision integer not null,
  id uuid not null,
  type text not null,
  data text not null,
  metadata text not null,
  recorded_at timestamptz not null,
  unique (stream, revision),
  unique (stream, id)
);

create table if not exists event_store.answers (
  scope text collate "C" not null,
  key uuid not null,
  fingerprint text not null,
  status smallint not null,
  body text not null,
  created_at timestamptz not null,
  primary key (scope, key)
);
create index if not exists answers_created_at on event_store.answers using brin (created_at);

create table if not exists event_store.checkpoints (
  name text not null primary key,
  position text,
  updated_at timestamptz not null
) with (fillfactor = 20);
`;
