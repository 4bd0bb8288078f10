import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../../kernel/clock.js';
import { Background, BackgroundWork } from '../../../../platform/background/background-work.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { OldDeliveries, placeBefore, type Place } from '../../store/old-deliveries.js';
import type { Forget, Get } from '../../../../platform/context.js';
import { ViewProgress } from '../../../../platform/projections/view-progress.js';
import { DELIVERIES_SAGA } from '../deliveries-saga.js';

const MINUTE_MS = 60_000;
const DAY_SECONDS = 86_400;
/** From the end of one round over all endpoints to the next: reading a hundred thousand takes a second. */
export const REST_MS = 6 * 3_600_000;
/** Statements of one run; the next continues from there. */
const CHUNKS_PER_RUN = 200;

/** For how long finished deliveries are retained at least; Infinity: for ever. */
export function retentionSeconds({
  webhookRetentionDays,
  webhookDisableWindowSeconds,
}: Pick<Config, 'webhookRetentionDays' | 'webhookDisableWindowSeconds'>): number {
  if (webhookRetentionDays === 0) return Infinity;
  return Math.max(webhookRetentionDays * DAY_SECONDS, webhookDisableWindowSeconds);
}

/**
 * Deletes deliveries that finished more than WEBHOOK_RETENTION_DAYS ago, with their attempts, and recoveries that ended
 * as long ago. What is pending stays, and so does everything of an endpoint that is being recovered. Goes around all
 * endpoints a few times a day and reads each old delivery once in a round: one that was sent again stays for long.
 */
@Injectable()
export class Retention {
  @Background()
  readonly work = new BackgroundWork({
    name: 'retention of deliveries',
    everyMs: MINUTE_MS,
    run: (signal) => this.prune(signal),
  });

  /** The last endpoint that this round has read. */
  private after: string | null = null;
  /** Those before it that are not done. */
  private waiting: Place[] = [];
  /** Unix milliseconds. */
  private restUntil = -Infinity;

  constructor(
    @Inject(CONFIG)
    private readonly config: Pick<Config, 'webhookRetentionDays' | 'webhookDisableWindowSeconds'>,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly table: OldDeliveries,
  ) {}

  /** Up to CHUNKS_PER_RUN statements of a round; none between two rounds. */
  async prune(signal?: AbortSignal): Promise<void> {
    if (this.config.webhookRetentionDays === 0) return;
    if (this.clock.now().getTime() < this.restUntil) return;
    const before = await this.cutoff();
    for (let chunk = 0; chunk < CHUNKS_PER_RUN && !signal?.aborted; chunk += 1) {
      const place = this.waiting.shift();
      if (place) {
        const next = await this.table.prune(place, before);
        if (next) this.waiting.unshift(next);
        continue;
      }
      const { last, old } = await this.table.endpoints(this.after, before);
      this.waiting = old;
      this.after = last ?? this.after;
      if (last !== null || (await this.table.pruneRecoveries(before))) continue;
      this.after = null;
      this.restUntil = this.clock.now().getTime() + REST_MS;
      return;
    }
  }

  /** Attempts that still count as failures are kept, however short the retention is. */
  private async cutoff(): Promise<Date> {
    return new Date((await this.table.now(this.clock)).getTime() - retentionSeconds(this.config) * 1000);
  }
}

/** Clocks of a delivery and of the user's creation may differ by as much. */
const MARGIN_MS = 86_400_000;

/**
 * Deletes deliveries about an erased person that arrived. One that the merchant did not get yet stays until it arrives or
 * its retention ends: it holds ids, amounts and what the merchant itself reported.
 */
export function forgetDeliveries(get: Get): Forget {
  return async ({ userId, merchantId, createdAt }, signal) => {
    // All events about the person are deliveries by then.
    if (!(await get(ViewProgress).current(DELIVERIES_SAGA))) return false;
    const deliveries = get(OldDeliveries);
    const since = new Date(Date.parse(createdAt) - MARGIN_MS).toISOString();
    for (const endpointId of await deliveries.endpointsOf(merchantId)) {
      for (let place: Place | null = placeBefore(endpointId, since); place !== null;) {
        if (signal.aborted) return false;
        place = await deliveries.erase(place, userId);
      }
    }
    return true;
  };
}
