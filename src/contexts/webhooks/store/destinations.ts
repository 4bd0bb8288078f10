import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { GroupCall } from '../../../platform/background/group-call.js';
import { Database } from '../../../platform/postgres/database.js';
import type { FormerSecret } from '../domain/lane.js';

/** How old the last look at the table may be when something is sent. */
export const FRESH_MS = 20;
/** At this age it is looked at again while sending goes on. */
const AGEING_MS = 10;
/** Endpoints that are remembered. */
const MOST = 10_000;

/** Where an endpoint's deliveries go right now. */
export interface Destination {
  readonly url: string;
  readonly status: 'enabled' | 'disabled' | 'deleted';
  readonly sealed_signing_secret: string;
  readonly former_secrets: readonly FormerSecret[];
}

interface Look {
  /** Number of the table's last change before. */
  readonly version: string;
  /** Null when there was no such endpoint. */
  readonly destination: Destination | null;
}

/**
 * The second look at an endpoint right before something is sent to it: deleted or disabled meanwhile, another URL, other
 * secrets. The table of lanes counts its changes (`webhooks.lane_changes`), so that one look at that number says of all
 * endpoints at once whether what is remembered of them still holds; under load, records bring it along (ADR 77).
 */
@Injectable()
export class Destinations {
  private readonly looks = new LRUCache<string, Look>({ max: MOST });
  /** The number that was seen last, and on the clock of `performance.now()` when it was asked for. */
  private seen = { version: '', at: -Infinity };
  private looking = false;
  private readonly versions = new GroupCall<null, null>((calls) => this.lookAtVersion(calls), {
    most: Infinity,
  });
  /** Questions that have not left yet. */
  private readonly asked = new Map<string, Promise<Destination | null>>();
  private readonly lookups = new GroupCall<string, Destination | null>((ids) => this.lookUpAll(ids));

  constructor(private readonly database: Database) {}

  /** The endpoint as it was at most {@link FRESH_MS} ago; null when there was none, undefined when that is not known. */
  known(endpointId: string): Destination | null | undefined {
    const age = performance.now() - this.seen.at;
    if (age > FRESH_MS) return undefined;
    if (age > AGEING_MS) this.lookAhead();
    return this.remembered(endpointId);
  }

  /** The endpoint as it is now. */
  async ask(endpointId: string): Promise<Destination | null> {
    if (!this.looks.has(endpointId)) return this.lookUp(endpointId);
    await this.versions.call(null);
    const remembered = this.remembered(endpointId);
    return remembered === undefined ? this.lookUp(endpointId) : remembered;
  }

  /** The number of changes that a statement asked for at `at` brought along; results may come in another order. */
  see(version: string, at: number): void {
    if (at > this.seen.at) this.seen = { version, at };
  }

  private lookUp(endpointId: string): Promise<Destination | null> {
    const asked = this.asked.get(endpointId) ?? this.lookups.call(endpointId);
    this.asked.set(endpointId, asked);
    return asked;
  }

  private remembered(endpointId: string): Destination | null | undefined {
    const look = this.looks.get(endpointId);
    return look?.version === this.seen.version ? look.destination : undefined;
  }

  private lookAhead(): void {
    if (this.looking) return;
    this.looking = true;
    this.versions
      .call(null)
      // Whoever needs it asks, and hears of the failure.
      .catch(() => undefined)
      .finally(() => (this.looking = false));
  }

  private async lookAtVersion(calls: readonly null[]): Promise<readonly null[]> {
    const at = performance.now();
    const [row] = await this.database.query<{ version: string }>('select version from webhooks.lane_changes');
    this.see(row!.version, at);
    return calls;
  }

  private async lookUpAll(ids: readonly string[]): Promise<readonly (Destination | null)[]> {
    for (const id of ids) this.asked.delete(id);
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
      this.looks.set(id, { version, destination });
      return destination;
    });
  }
}
