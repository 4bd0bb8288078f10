/** The advisory lock of appends, which allows one group commit at a time. */
const APPEND_LOCK = 7_331_002;

/**
 * The function of a group commit. It checks each unit separately, and writes it as a whole or not at all. It
 * acquires the lock in a separate statement, so that later statements see all earlier commits. Revisions are
 * therefore current, and positions in commit order: a reader of `position > last` misses nothing.
 *
 * `separator` joins texts of one kind. `append_expected` has revisions, or -1 for no stream. `event_places`
 * numbers the events of an append, and `append_sizes` counts them. The settings avoid repeated planning, and
 * plans that suit only a small table.
 *
 * Returns one row: `heads` has the earlier revision of each append's stream, or -1. `refused` has the first
 * refused append of each refused unit. `done_*` describe appends of earlier commits, and `responded_json`
 * earlier responses.
 */
const COMMIT_FUNCTION = `
create or replace function event_store.commit_units(
  separator text,
  append_units int[], append_expected int[], append_sizes int[], append_streams text,
  event_appends int[], event_places int[], event_ids text, event_types text, event_data text, event_metadata text,
  response_units int[], response_statuses int[], response_scopes text, response_keys text, response_fingerprints text,
  response_bodies text,
  out heads int[], out refused int[], out done_appends int[], out done_revisions int[], out done_positions bigint[],
  out responded_json text, out last_position bigint
) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $function$
declare
  streams text[] := string_to_array(append_streams, separator);
  ids uuid[] := string_to_array(event_ids, separator)::uuid[];
  scopes text[] := string_to_array(response_scopes, separator);
  keys uuid[] := string_to_array(response_keys, separator)::uuid[];
  fingerprints text[] := string_to_array(response_fingerprints, separator);
  bodies text[] := case response_bodies when '' then array['']
    else string_to_array(response_bodies, separator) end;
  known_appends int[];
  done_units int[] := '{}';
  refused_units int[] := '{}';
  responded_units int[];
  stored_responses bigint;
  now_recorded timestamptz;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'event_store.commit_units needs read committed isolation';
  end if;
  perform pg_advisory_xact_lock(${APPEND_LOCK});
  now_recorded := clock_timestamp();
  done_appends := '{}';

  heads := array(
    select coalesce((
      select e.revision from event_store.events e where e.stream = a.stream order by e.revision desc limit 1
    ), -1)
    from unnest(streams) with ordinality a(stream, place) order by a.place);

  if -1 <> any(heads) then
    -- Appends of which events are there already. All of them: done before. Some of them: refused.
    select array_agg(distinct n.append) into known_appends
    from unnest(event_appends, ids) n(append, id)
    join event_store.events e on e.stream = streams[n.append] and e.id = n.id
    where heads[n.append] >= 0;
  end if;

  if known_appends is not null then
    select array_agg(d.append), array_agg(d.revision), array_agg(d.position)
    into done_appends, done_revisions, done_positions
    from (
      select n.append, max(e.revision) as revision, max(e.position) as position
      from unnest(event_appends, ids) n(append, id)
      join event_store.events e on e.stream = streams[n.append] and e.id = n.id
      group by n.append having count(*) = append_sizes[n.append]
    ) d;
    done_appends := coalesce(done_appends, '{}');
    -- A unit whose every append was done before is a repeat: what it expected no longer counts.
    done_units := array(
      select a.unit from unnest(append_units, append_sizes) with ordinality a(unit, size, append)
      where a.size > 0 group by a.unit having bool_and(a.append = any(done_appends)));
  end if;

  refused := array(
    select min(a.append)::int
    from unnest(append_units, append_expected, heads) with ordinality a(unit, expected, head, append)
    where not case
        when a.append = any(done_appends) then true
        when a.append = any(known_appends) then false
        else a.head = a.expected
      end
      and a.unit <> all(done_units)
    group by a.unit);
  if refused <> '{}' then
    refused_units := array(select append_units[r.append] from unnest(refused) r(append));
  end if;

  if keys <> '{}' then
    -- Storing is the look-up: what is not stored has a response already. Refused units store nothing either way.
    with stored as (
      insert into event_store.responses (scope, key, fingerprint, status, body, created_at)
      select n.scope, n.key, n.fingerprint, n.status, n.body, now_recorded
      from unnest(response_units, response_statuses, scopes, keys, fingerprints, bodies)
        n(unit, status, scope, key, fingerprint, body)
      where n.unit <> all(refused_units)
      on conflict do nothing
      returning 1
    )
    select count(*) into stored_responses from stored;
    if stored_responses < cardinality(keys) then
      select array_agg(n.unit),
        json_agg(json_build_object('unit', n.unit, 'fingerprint', s.fingerprint, 'status', s.status, 'body', s.body))
      into responded_units, responded_json
      from unnest(response_units, response_statuses, scopes, keys, fingerprints, bodies)
        n(unit, status, scope, key, fingerprint, body)
      join event_store.responses s on s.scope = n.scope and s.key = n.key
      -- Those of this call were not stored before.
      where s.xmin <> pg_current_xact_id()::xid
      -- A repeat of the very commit that stored the response succeeds like the first time.
        and not (n.unit = any(done_units)
          and s.status = n.status and s.fingerprint = n.fingerprint and s.body = n.body);
      refused_units := refused_units || coalesce(responded_units, '{}');
    end if;
  end if;

  insert into event_store.events (position, stream, revision, id, type, data, metadata, recorded_at)
  select nextval('event_store.position'), streams[n.append], heads[n.append] + n.place, n.id, n.type, n.data,
    n.metadata, now_recorded
  from (
    select * from unnest(event_appends, event_places, ids, string_to_array(event_types, separator),
      string_to_array(event_data, separator), string_to_array(event_metadata, separator))
      with ordinality u(append, place, id, type, data, metadata, ord)
    where append_units[u.append] <> all(refused_units) and u.append <> all(done_appends)
    order by u.ord
  ) n;
  if found then
    last_position := currval('event_store.position');
  end if;
end
$function$
`;

/**
 * The tables of the log. The statements are repeatable, because a database for events alone runs them at
 * boot. Bodies are text to retain their bytes. The fillfactor allows updates of checkpoints in place.
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

create table if not exists event_store.responses (
  scope text collate "C" not null,
  key uuid not null,
  fingerprint text not null,
  status smallint not null,
  body text not null,
  created_at timestamptz not null,
  primary key (scope, key)
);
create index if not exists responses_created_at on event_store.responses using brin (created_at);
-- Few responses are sealed; those of a merchant are searched for an erased person.
create index if not exists responses_sealed on event_store.responses (scope, created_at, key) where body like 'sealed:%';

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
