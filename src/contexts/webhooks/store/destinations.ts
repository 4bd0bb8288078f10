import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { FormerSecret } from '../domain/endpoint-snapshot.js';
import { GroupCall } from '../../../platform/background/group-call.js';
import { Database } from '../../../platform/postgres/database.js';

/** How old the last read of the table may be when something is sent. */
export const DESTINATION_FRESH_MS = 20;
/** At this age it is read again while sending continues. */
const AGEING_MS = 10;
const MAX_CACHED = 10_000;

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
 * secrets. The table of snapshots counts its changes (`webhooks.endpoint_snapshot_changes`), so that one
 * read of that number says of all endpoints at once whether what is remembered of them still holds; under load, records bring it along (ADR 77).
 */
@Injectable()
export class Destinations {
  private readonly cache = new LRUCache<string, Known>({ max: MAX_CACHED });
  /** The number that was seen last, and on the clock of `performance.now()` when it was requested. */
  private seen = { version: '', at: -Infinity };
  private reading = false;
  private readonly versions = new GroupCall<null, null>((calls) => this.readVersion(calls), {
    max: Infinity,
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

  async load(endpointId: string): Promise<Destination | null> {
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
    const [row] = await this.database.query<{ version: string }>(
      'select version from webhooks.endpoint_snapshot_changes',
    );
    this.see(row!.version, at);
    return calls;
  }

  private async resolveAll(ids: readonly string[]): Promise<readonly (Destination | null)[]> {
    for (const id of ids) this.pending.delete(id);
    const at = performance.now();
    const rows = await this.database.query<Destination & { endpoint_id: string; version: string }>(
      `select version, endpoint_id, url, status, sealed_signing_secret, former_secrets
       from webhooks.endpoint_snapshot_changes left join webhooks.endpoint_snapshots on endpoint_id = any($1::uuid[])`,
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
