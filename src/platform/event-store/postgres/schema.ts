import { COMMIT_FUNCTION } from './commit-function.js';

/**
 * The log itself: events, the responses of keyed requests that are stored with them, and which log it is. Statements
 * that may run again: a database for events alone has no migrations and is prepared with them at boot.
 * Bodies are text because their bytes count; fillfactor leaves room for checkpoints to be updated in place.
 */
export const LOG_SCHEMA = `
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
-- Few responses are sealed; those of a merchant are searched for an erased person.
create index if not exists answers_sealed on event_store.answers (scope, created_at, key) where body like 'sealed:%';

create table if not exists event_store.checkpoints (
  name text not null primary key,
  position text,
  updated_at timestamptz not null
) with (fillfactor = 20);

create table if not exists event_store.log_identity (
  only_row boolean primary key default true check (only_row),
  log_id uuid not null default gen_random_uuid()
);
insert into event_store.log_identity default values on conflict do nothing;
${COMMIT_FUNCTION}`;
