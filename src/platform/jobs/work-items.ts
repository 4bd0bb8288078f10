import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../postgres/database.js';

/** One in this number of claimed items is reserved for later priority lines, to prevent starvation. */
const LATER_SHARE = 5;
/** The limit of one share in a claim, as a multiple of an equal part, because other shares may use less. */
const SURPLUS = 4;
const MIN_PART = 8;

export interface WorkItem<State extends object = object> {
  readonly kind: string;
  readonly key: string;
  readonly share: string;
  /** The id of this claim, void once the item is claimed or scheduled again. */
  readonly lease: string;
  /** The number of consecutive failures. `failing_seconds` is their duration, `cause` the last reason. */
  readonly failures: number;
  readonly failing_seconds: number;
  readonly cause: string | null;
  readonly state: State;
}

export interface NewItem {
  readonly key: string;
  readonly share?: string;
  readonly line?: number;
  /** The due time; now when absent. */
  readonly dueAt?: string;
  /** The new state; unchanged when absent. */
  readonly state?: object;
}

export interface ClaimOptions {
  readonly kind: string;
  readonly limit: number;
  readonly leaseMs: number;
  /** The priority lines in the order of claims; only line 0 when absent. */
  readonly lines?: readonly number[];
  readonly except?: readonly string[];
}

/** The next due time of an item and the changes of its row. */
export interface Next {
  readonly inMs: number;
  /** The failure to count. The count is reset if this is absent. */
  readonly failure?: { readonly cause: string | null };
  readonly state?: object;
  readonly line?: number;
}

/** The due work of all contexts in `work.items`, shared by all processes. */
@Injectable()
export class WorkItems {
  constructor(private readonly database: Database) {}

  /** Claims due items for `leaseMs`, one priority line after another. `more` is true if more may be due. */
  async claim<State extends object = object>({
    kind,
    limit,
    leaseMs,
    lines = [0],
    except = [],
  }: ClaimOptions): Promise<{ readonly items: readonly WorkItem<State>[]; readonly more: boolean }> {
    const rows: (WorkItem<State> & { readonly more: boolean })[] = [];
    let more = false;
    for (const [n, line] of lines.entries()) {
      const left = limit - rows.length;
      const room = n === lines.length - 1 ? left : left - Math.floor(left / LATER_SHARE);
      if (room === 0) continue;
      const claimed = await this.database.query<(typeof rows)[number] & Record<string, unknown>>(CLAIM, [
        kind,
        line,
        room,
        leaseMs,
        except,
      ]);
      more ||= claimed.length === room || claimed.some((row) => row.more);
      rows.push(...claimed);
    }
    return { items: rows, more };
  }

  /** Deletes a completed item. Returns false if its lease was lost. */
  async complete({ kind, key, lease }: WorkItem): Promise<boolean> {
    const rows = await this.database.query(
      'delete from work.items where kind = $1 and key = $2 and lease = $3 returning 1 as deleted',
      [kind, key, lease],
    );
    return rows.length === 1;
  }

  /** Schedules the item again. Returns false if its lease was lost. */
  async retry(item: WorkItem, next: Next): Promise<boolean> {
    return (await this.retryAll([[item, next]])) === 1;
  }

  /** Schedules items of one kind again, except those whose lease was lost. Returns the number scheduled. */
  async retryAll(items: readonly (readonly [item: WorkItem, next: Next])[]): Promise<number> {
    if (items.length === 0) return 0;
    const rows = await this.database.query(
      `update work.items item set due_at = clock_timestamp() + next.in_ms * interval '1 ms', lease = null,
         failures = case when next.failed then failures + 1 else 0 end,
         failing_since = case when next.failed then coalesce(failing_since, clock_timestamp()) end,
         cause = next.cause, state = coalesce(next.state, item.state), line = coalesce(next.line, item.line)
       from unnest($2::text[], $3::uuid[], $4::float8[], $5::boolean[], $6::text[], $7::jsonb[], $8::smallint[])
         as next (key, lease, in_ms, failed, cause, state, line)
       where item.kind = $1 and item.key = next.key and item.lease = next.lease returning 1 as updated`,
      [
        items[0]![0].kind,
        items.map(([{ key }]) => key),
        items.map(([{ lease }]) => lease),
        items.map(([, { inMs }]) => inMs),
        items.map(([, { failure }]) => failure !== undefined),
        items.map(([, { failure }]) => failure?.cause ?? null),
        items.map(([, { state }]) => (state === undefined ? null : JSON.stringify(state))),
        items.map(([, { line = null }]) => line),
      ],
    );
    return rows.length;
  }

  /** Extends the leases of items of one kind to `leaseMs` from now. Returns false if a lease was lost. */
  async extend(claimed: WorkItem | readonly WorkItem[], leaseMs: number): Promise<boolean> {
    const items = [claimed].flat();
    if (items.length === 0) return true;
    const rows = await this.database.query(
      `update work.items item set due_at = clock_timestamp() + $4 * interval '1 ms'
       from unnest($2::text[], $3::uuid[]) as claimed (key, lease)
       where item.kind = $1 and item.key = claimed.key and item.lease = claimed.lease returning 1 as extended`,
      [items[0]!.kind, items.map(({ key }) => key), items.map(({ lease }) => lease), leaseMs],
    );
    return rows.length === items.length;
  }

  /** Renews the lease while `work` runs. A process that stalls loses the lease. */
  async whileClaimed<T>(
    claimed: WorkItem | readonly WorkItem[],
    leaseMs: number,
    work: () => Promise<T>,
  ): Promise<T> {
    const extend = (): void => void this.extend(claimed, leaseMs).catch(() => undefined);
    const extending = setInterval(extend, leaseMs / 3);
    try {
      return await work();
    } finally {
      clearInterval(extending);
    }
  }

  schedule(kind: string, items: readonly NewItem[]): Promise<void> {
    return this.database.transaction((tx) => scheduleWork(tx, kind, items));
  }
}

/** Adds items, or schedules existing items again, even claimed and failed items. */
export async function scheduleWork(tx: PoolClient, kind: string, items: readonly NewItem[]): Promise<void> {
  if (items.length === 0) return;
  await tx.query(
    `insert into work.items as item (kind, key, share, line, due_at, state)
     select distinct on (key) $1, key, share, line, coalesce(due_at, now()), state
     from unnest($2::text[], $3::text[], $4::smallint[], $5::timestamptz[], $6::jsonb[])
       as next (key, share, line, due_at, state) order by key
     on conflict (kind, key) do update set line = excluded.line, due_at = least(item.due_at, excluded.due_at),
       lease = null, failures = 0, failing_since = null, cause = null,
       state = coalesce(excluded.state, item.state)`,
    [
      kind,
      items.map(({ key }) => key),
      items.map(({ share = '' }) => share),
      items.map(({ line = 0 }) => line),
      items.map(({ dueAt = null }) => dueAt),
      items.map(({ state }) => (state === undefined ? null : JSON.stringify(state))),
    ],
  );
}

/** Makes items due at once, without a reset of their failures. */
export async function wakeWork(
  tx: PoolClient,
  kind: string,
  keys: readonly string[],
  line: number | null = null,
): Promise<void> {
  await tx.query(
    `update work.items set due_at = least(due_at, now()), lease = null, line = coalesce($3, line)
     where kind = $1 and key = any($2)`,
    [kind, keys, line],
  );
}

export async function dropWork(tx: PoolClient, kind: string, keys: readonly string[]): Promise<void> {
  await tx.query('delete from work.items where kind = $1 and key = any($2)', [kind, keys]);
}

/** The SQL of a claim by round robin over the shares (by a skip scan). A large share delays no others. */
const CLAIM = `
  with recursive shares as (
    (select share from work.items where kind = $1 and line = $2 order by share limit 1)
    union all
    select (select share from work.items where kind = $1 and line = $2 and share > last.share order by share limit 1)
    from shares last where last.share is not null
  ), due_shares as (
    select share from shares where share <> all($5::text[]) and exists (select from work.items item
      where kind = $1 and line = $2 and item.share = shares.share and due_at <= now())
  ), part as (
    select least($3::int, greatest(${MIN_PART}, ${SURPLUS} * $3::int / greatest(count(*), 1))) as room from due_shares
  ), chosen as (
    select key, room, due_at, row_number() over (partition by share order by due_at) as place
    from due_shares cross join part cross join lateral (
      select key, due_at from work.items item
      where kind = $1 and line = $2 and item.share = due_shares.share and due_at <= now()
      order by due_at limit room for update skip locked
    ) due
    order by place, due_at limit $3
  )
  update work.items item set due_at = clock_timestamp() + $4 * interval '1 ms', lease = gen_random_uuid()
  from chosen where item.kind = $1 and item.key = chosen.key
  returning item.kind, item.key, share, lease, failures, cause, coalesce(state, '{}') as state,
    coalesce(extract(epoch from now() - failing_since), 0)::float8 as failing_seconds,
    chosen.place >= chosen.room as more`;
