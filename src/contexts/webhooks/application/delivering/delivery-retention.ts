import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock, DAY_MS, HOUR_MS } from '../../../../kernel/clock.js';
import { Periodic } from '../../../../platform/jobs/background-work.js';
import { DeliveryRetentionTable, placeBefore, type Place } from '../../store/delivery-retention-table.js';
import { Forgets, type ForgottenPerson } from '../../../../platform/operations/erasure.js';
import { SubscriptionProgress } from '../../../../platform/projections/subscription-progress.js';
import { DELIVERIES_SAGA } from '../deliveries-saga.js';
import { webhooksConfig, type WebhooksConfig } from '../../settings.js';

const DAY_SECONDS = 86_400;
/** Reading a hundred thousand endpoints takes a second. */
const ROUND_MS = 6 * HOUR_MS;
/** Clocks of a delivery and of the user's creation may differ by as much. */
const MARGIN_MS = DAY_MS;

/** For how long finished deliveries are retained at least; Infinity: for ever. */
export function retentionSeconds({
  webhookRetentionDays,
  webhookDisableWindowSeconds,
}: WebhooksConfig): number {
  if (webhookRetentionDays === 0) return Infinity;
  return Math.max(webhookRetentionDays * DAY_SECONDS, webhookDisableWindowSeconds);
}

/**
 * Deletes deliveries that finished more than WEBHOOK_RETENTION_DAYS ago, with their attempts, and recoveries that ended
 * as long ago. What is pending stays, and so does everything of an endpoint that is being recovered.
 */
@Injectable()
export class DeliveryRetention {
  constructor(
    @Inject(webhooksConfig.KEY) private readonly config: WebhooksConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly table: DeliveryRetentionTable,
    private readonly progress: SubscriptionProgress,
  ) {}

  @Periodic({ name: 'retention of deliveries', everyMs: ROUND_MS })
  async prune(signal?: AbortSignal): Promise<void> {
    if (this.config.webhookRetentionDays === 0) return;
    const before = await this.cutoff();
    for (const endpointId of await this.table.endpointsBefore(before)) {
      let place: Place | null = placeBefore(endpointId, '-infinity');
      while (place !== null && !signal?.aborted) place = await this.table.prune(place, before);
    }
    await this.table.pruneRecoveries(before, signal);
  }

  /** Attempts that still count as failures are kept, however short the retention is. */
  private async cutoff(): Promise<Date> {
    return new Date((await this.table.now(this.clock)).getTime() - retentionSeconds(this.config) * 1000);
  }

  /**
   * Deletes deliveries about an erased person that arrived. One that the merchant did not get yet stays until it arrives or
   * its retention ends: it holds ids, amounts and what the merchant itself reported.
   */
  @Forgets('webhooks')
  async forget({ userId, merchantId, createdAt }: ForgottenPerson, signal: AbortSignal): Promise<boolean> {
    // All events about the person are deliveries by then.
    if (!(await this.progress.waitUntilCurrent(DELIVERIES_SAGA))) return false;
    const since = new Date(Date.parse(createdAt) - MARGIN_MS).toISOString();
    for (const endpointId of await this.table.endpointsOf(merchantId)) {
      for (let place: Place | null = placeBefore(endpointId, since); place !== null;) {
        if (signal.aborted) return false;
        place = await this.table.erase(place, userId);
      }
    }
    return true;
  }
}
