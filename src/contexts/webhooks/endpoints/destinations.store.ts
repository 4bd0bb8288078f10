import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import { GroupCall } from '../../../platform/jobs/group-call.js';
import { Database } from '../../../platform/postgres/database.js';
import type { Endpoint } from './webhook-endpoints.js';

/** The maximum age of an endpoint's state when a delivery is sent to it. */
export const DESTINATION_FRESH_MS = 20;
const MAX_CACHED = 10_000;

export type Destination = Pick<Endpoint, 'url' | 'status' | 'sealed_signing_secret' | 'former_secrets'>;

/** The cached state of endpoints, checked right before each attempt (ADR 77). */
@Injectable()
export class Destinations {
  private readonly fresh = new LRUCache<string, Destination>({
    ...upTo(MAX_CACHED),
    ttl: DESTINATION_FRESH_MS,
    ttlResolution: 0,
  });
  private readonly reads = new GroupCall<string, Destination | null>((ids) => this.readAll(ids));

  constructor(private readonly database: Database) {}

  async load(endpointId: string): Promise<Destination | null> {
    return this.fresh.get(endpointId) ?? this.reads.call(endpointId);
  }

  private async readAll(ids: readonly string[]): Promise<readonly (Destination | null)[]> {
    const start = performance.now();
    const rows = await this.database.query<Destination & { endpoint_id: string }>(
      `select endpoint_id, url, status, sealed_signing_secret, former_secrets
       from webhooks.endpoint_snapshots where endpoint_id = any($1::uuid[])`,
      [[...new Set(ids)]],
    );
    for (const row of rows) this.fresh.set(row.endpoint_id, row, { start });
    const found = new Map(rows.map((row) => [row.endpoint_id, row]));
    return ids.map((id) => found.get(id) ?? null);
  }
}
