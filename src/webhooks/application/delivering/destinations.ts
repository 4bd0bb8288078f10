import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Database } from '../../../platform/database/database.js';
import { GroupCall } from '../../../platform/group-call.js';
import type { FormerSecret } from '../lane-states.js';

/** How old the last look at an endpoint may be when something is sent to it. */
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
  /** On the clock of `performance.now()`, when the table was asked. */
  readonly at: number;
  readonly destination: Destination | null;
}

/**
 * The second look at an endpoint right before something is sent to it: deleted or disabled meanwhile, another URL, other
 * secrets. All deliveries that leave within a few milliseconds share one, and all endpoints one statement.
 */
@Injectable()
export class Destinations {
  private readonly looks = new LRUCache<string, Look>({ max: MOST });
  /** Questions that have not left yet. */
  private readonly asked = new Map<string, Promise<Look>>();
  private readonly lookingAgain = new Set<string>();
  private readonly lookups = new GroupCall<string, Look>((ids) => this.lookUpAll(ids));

  constructor(private readonly database: Database) {}

  /** The endpoint as it was at most {@link FRESH_MS} ago: null when there was none, undefined when that is not known. */
  known(endpointId: string): Destination | null | undefined {
    const look = this.looks.get(endpointId);
    if (look === undefined) return undefined;
    const age = performance.now() - look.at;
    if (age > FRESH_MS) return undefined;
    if (age > AGEING_MS) this.lookAgain(endpointId);
    return look.destination;
  }

  /** The endpoint as it is now. */
  async ask(endpointId: string): Promise<Destination | null> {
    const look = await this.lookUp(endpointId);
    return look.destination;
  }

  private lookUp(endpointId: string): Promise<Look> {
    const asked = this.asked.get(endpointId) ?? this.lookups.call(endpointId);
    this.asked.set(endpointId, asked);
    return asked;
  }

  private lookAgain(endpointId: string): void {
    if (this.lookingAgain.has(endpointId)) return;
    this.lookingAgain.add(endpointId);
    this.lookUp(endpointId)
      // Whoever needs the answer asks, and hears of the failure.
      .catch(() => undefined)
      .finally(() => this.lookingAgain.delete(endpointId));
  }

  private async lookUpAll(ids: readonly string[]): Promise<readonly Look[]> {
    const at = performance.now();
    for (const id of ids) this.asked.delete(id);
    const rows = await this.database.query<Destination & { endpoint_id: string }>(
      `select endpoint_id, url, status, sealed_signing_secret, former_secrets from webhooks.lanes
       where endpoint_id = any($1::uuid[])`,
      [ids],
    );
    const found = new Map(rows.map((row) => [row.endpoint_id, row]));
    return ids.map((id) => {
      const look = { at, destination: found.get(id) ?? null };
      this.looks.set(id, look);
      return look;
    });
  }
}
