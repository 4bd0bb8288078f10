import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { endpointStats, type WebhookEndpointStats } from './endpoint-stats.js';

/** How old a result may be that is given again; also by how much it may reach further back than was asked. */
export const STATS_SHARED_MS = 5000;

interface Asked {
  readonly stats: Promise<WebhookEndpointStats>;
  /** On the clock of `performance.now()`. */
  until: number;
}

/**
 * Statistics of endpoints, counted once for all who ask about the same endpoint at about the same time: counting takes up
 * to a second of the database, and a merchant may ask as often as the rate limit lets it.
 */
@Injectable()
export class RecentStats {
  private readonly asked = new Map<string, Asked>();

  constructor(private readonly database: Database) {}

  /** Whose endpoint it is, the caller has made sure of. */
  of(endpointId: string, since: Date): Promise<WebhookEndpointStats> {
    const now = performance.now();
    for (const [key, { until }] of this.asked) if (until <= now) this.asked.delete(key);
    const key = `${endpointId} ${Math.floor(since.getTime() / STATS_SHARED_MS)}`;
    const asked = this.asked.get(key) ?? this.ask(key, endpointId, since);
    return asked.stats;
  }

  private ask(key: string, endpointId: string, since: Date): Asked {
    const asked = { stats: endpointStats(this.database, endpointId, since), until: Infinity };
    this.asked.set(key, asked);
    asked.stats.then(
      () => (asked.until = performance.now() + STATS_SHARED_MS),
      () => this.asked.delete(key),
    );
    return asked;
  }
}
