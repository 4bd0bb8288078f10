import type { PoolClient } from 'pg';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import type { Lane, FormerSecret } from '../domain/lane.js';
import { GroupCall } from '../../../platform/background/group-call.js';
import { Database } from '../../../platform/postgres/database.js';

/** A row of `webhooks.lanes`: a lane as of the event at `position`. Its `failures_since` is a timestamp of PostgreSQL. */
export type LaneRow = Lane & { readonly position: string };

/**
 * The lanes of every merchant that the events speak of. A merchant may have deleted a hundred thousand: of those only
 * the ones that an event names, so that one seen again does not bring its endpoint back.
 */
export async function lanesOf(events: readonly RecordedEvent[], tx: PoolClient): Promise<LaneRow[]> {
  const named = (field: string): unknown[] => [
    ...new Set(events.map(({ data }) => data[field]).filter((id) => id !== undefined)),
  ];
  const lanes = (where: string): string =>
    `select endpoint_id, merchant_id, url, event_types, sealed_signing_secret, former_secrets, status,
       failures_since::text, position
     from webhooks.lanes where ${where}`;
  const found = await tx.query<LaneRow>(
    `${lanes(`merchant_id = any($1::uuid[]) and status <> 'deleted'`)}
     union all ${lanes(`endpoint_id = any($2::uuid[]) and status = 'deleted'`)}`,
    [named('merchant_id'), named('endpoint_id')],
  );
  return found.rows;
}

export async function saveLanes(lanes: readonly LaneRow[], tx: PoolClient): Promise<void> {
  if (lanes.length === 0) return;
  await tx.query(
    `insert into webhooks.lanes (endpoint_id, merchant_id, url, event_types, sealed_signing_secret, former_secrets,
       status, failures_since, position)
     select endpoint_id, merchant_id, url, nullif(event_types, 'null'), sealed_signing_secret, former_secrets,
       status, failures_since, position
     from jsonb_to_recordset($1) as lane (endpoint_id uuid, merchant_id uuid, url text, event_types jsonb,
       sealed_signing_secret text, former_secrets jsonb, status text, failures_since timestamptz, position text)
     on conflict (endpoint_id) do update set url = excluded.url, event_types = excluded.event_types,
       sealed_signing_secret = excluded.sealed_signing_secret, former_secrets = excluded.former_secrets,
       status = excluded.status, failures_since = excluded.failures_since, position = excluded.position`,
    [JSON.stringify(lanes)],
  );
}

/** How old the last read of the table may be when something is sent. */
export const DESTINATION_FRESH_MS = 20;
/** At this age it is read again while sending continues. */
const AGEING_MS = 10;
const MOST = 10_000;

export interface Destination {
  readonly url: string;
  readonly status: 'enabled' | 'disabled' | 'deleted';
  readonly sealed_signing_secret: string;
  readonly former_secrets: readonly FormerSecret[];
}

interface Known {
  /** Number of the table's last change before. */
  readonly version: string;
  /** Null when there was no such endpoint. */
  readonly destination: Destination | null;
}

/**
 * A second check of an endpoint right before something is sent to it: deleted or disabled meanwhile, another URL, other
 * secrets. The table of lanes counts its changes (`webhooks.lane_changes`), so that one read of that number says of all
 * endpoints at once whether what is remembered of them still holds; under load, records bring it along (ADR 77).
 */
@Injectable()
export class Destinations {
  private readonly cache = new LRUCache<string, Known>({ max: MOST });
  /** The number that was seen last, and on the clock of `performance.now()` when it was requested. */
  private seen = { version: '', at: -Infinity };
  private reading = false;
  private readonly versions = new GroupCall<null, null>((calls) => this.readVersion(calls), {
    most: Infinity,
  });
  /** Questions that have not left yet. */
  private readonly pending = new Map<string, Promise<Destination | null>>();
  private readonly lookups = new GroupCall<string, Destination | null>((ids) => this.resolveAll(ids));

  constructor(private readonly database: Database) {}

  /** The endpoint as it was at most {@link DESTINATION_FRESH_MS} ago; null when there was none, undefined when that is not known. */
  known(endpointId: string): Destination | null | undefined {
    const age = performance.now() - this.seen.at;
    if (age > DESTINATION_FRESH_MS) return undefined;
    if (age > AGEING_MS) this.prefetch();
    return this.remembered(endpointId);
  }

  async ask(endpointId: string): Promise<Destination | null> {
    if (!this.cache.has(endpointId)) return this.resolve(endpointId);
    await this.versions.call(null);
    const remembered = this.remembered(endpointId);
    return remembered === undefined ? this.resolve(endpointId) : remembered;
  }

  /** The number of changes in the result of a statement sent at `at`; results may come in another order. */
  see(version: string, at: number): void {
    if (at > this.seen.at) this.seen = { version, at };
  }

  private resolve(endpointId: string): Promise<Destination | null> {
    const found = this.pending.get(endpointId) ?? this.lookups.call(endpointId);
    this.pending.set(endpointId, found);
    return found;
  }

  private remembered(endpointId: string): Destination | null | undefined {
    const known = this.cache.get(endpointId);
    return known?.version === this.seen.version ? known.destination : undefined;
  }

  private prefetch(): void {
    if (this.reading) return;
    this.reading = true;
    this.versions
      .call(null)
      // A sender that needs it reads it again, and gets the failure.
      .catch(() => undefined)
      .finally(() => (this.reading = false));
  }

  private async readVersion(calls: readonly null[]): Promise<readonly null[]> {
    const at = performance.now();
    const [row] = await this.database.query<{ version: string }>('select version from webhooks.lane_changes');
    this.see(row!.version, at);
    return calls;
  }

  private async resolveAll(ids: readonly string[]): Promise<readonly (Destination | null)[]> {
    for (const id of ids) this.pending.delete(id);
    const at = performance.now();
    const rows = await this.database.query<Destination & { endpoint_id: string; version: string }>(
      `select version, endpoint_id, url, status, sealed_signing_secret, former_secrets
       from webhooks.lane_changes left join webhooks.lanes on endpoint_id = any($1::uuid[])`,
      [ids],
    );
    const found = new Map(rows.map((row) => [row.endpoint_id, row]));
    const { version } = rows[0]!;
    this.see(version, at);
    return ids.map((id) => {
      const destination = found.get(id) ?? null;
      this.cache.set(id, { version, destination });
      return destination;
    });
  }
}
