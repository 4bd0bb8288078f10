import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../../kernel/clock.js';
import { EventStoreUnavailable } from '../../../../platform/event-store/port.js';
import { MERCHANT_DIRECTORY, type MerchantDirectory } from '../../../../platform/http/merchant-directory.js';
import { isDatabaseUnavailable } from '../../../../platform/postgres/unavailable.js';
import { retryAfterMs } from '../../../../platform/outbound/outbound-request.js';
import { outcomeOf, retryDelayMs, SUSPENDED_MS, type AttemptOutcome } from '../../domain/retry.js';
import { AutomaticDisabling, type DisableReason } from '../automatic-disabling.js';
import { RECEIVERS, type ReceiverResult, type Receivers } from '../ports.js';
import {
  DeliveryTable,
  type AttemptRecord,
  type ClaimedDelivery,
  type DeliveryResult,
} from '../../store/delivery-table.js';
import { Destinations, type Destination } from '../../store/destinations.js';
import { SigningSecrets } from '../signing-secrets.js';
import { AttemptLogger } from './attempt-logger.js';
import { LaneSchedule } from './lane-schedule.js';
import { webhooksConfig, type WebhooksConfig } from '../../settings.js';

const USER_AGENT = 'svc-Webhooks/1.0';
/** Pause after a delivery that could not be decided here (the event store was unavailable), and between tries to record one. */
const PAUSE_MS = 1000;
/** Between two log lines about deliveries that cannot be recorded: thousands may wait for the database at once. */
const WARN_EVERY_MS = 10_000;
/** What the system says when this process or machine has no sockets left: no receiver's fault. */
const OUT_OF_SOCKETS = /\b(EMFILE|ENFILE|ENOBUFS)\b/;

interface Attempted {
  readonly received: ReceiverResult;
  readonly outcome: AttemptOutcome;
  readonly startedAt: Date;
  readonly durationMs: number;
}

interface Evaluated {
  readonly result: DeliveryResult;
  /** Why its endpoint is to be disabled: it responded with 410. */
  readonly gone?: DisableReason;
}

/** One delivery, one attempt: check again where it goes, and whether its merchant is suspended, sign, send, evaluate, record. */
@Injectable()
export class DeliverySender {
  private readonly logger = new Logger(DeliverySender.name);
  private stopped = false;
  /** On the clock of `performance.now()`. */
  private warnedAt = -Infinity;

  constructor(
    private readonly table: DeliveryTable,
    private readonly destinations: Destinations,
    @Inject(MERCHANT_DIRECTORY) private readonly merchants: MerchantDirectory,
    private readonly schedule: LaneSchedule,
    private readonly secrets: SigningSecrets,
    private readonly log: AttemptLogger,
    private readonly disabling: AutomaticDisabling,
    @Inject(RECEIVERS) private readonly receivers: Receivers,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(webhooksConfig.KEY) private readonly config: WebhooksConfig,
  ) {}

  /**
   * Sends and records one. `responded` is called once, before the record, with the attempt or null when there was none.
   * `fills`: it takes the last slot of its endpoint, and may have waited for the receiver.
   * Resolves once it is recorded to whether it is due again at once. Never rejects.
   */
  async deliver(
    delivery: ClaimedDelivery,
    responded: (attempt: AttemptRecord | null) => void,
    fills: boolean,
  ): Promise<boolean> {
    const { endpoint_id, merchant_id } = delivery;
    const { result, gone } = await this.attempt(delivery, fills).catch((error: Error): Evaluated => {
      this.logger.warn({
        msg: 'delivery postponed',
        delivery_id: delivery.delivery_id,
        endpoint_id,
        err: error,
      });
      return { result: notSent(delivery, 'pending', PAUSE_MS) };
    });
    const { attempt, state, delay_ms } = result;
    const disable = async (): Promise<void> => {
      try {
        if (gone) await this.disabling.disable({ endpoint_id, merchant_id }, gone);
      } catch (error) {
        if (error instanceof EventStoreUnavailable || isDatabaseUnavailable(error)) throw error;
        // Such as an event of a newer version: the next 410, or its pattern of failures, disables it.
        this.logger.warn({ msg: 'webhook endpoint not disabled', endpoint_id, err: error });
      }
    };
    // Before the attempt is recorded: a crash in between sends again, and the next 410 disables.
    const disabled = await disable().then(
      () => true,
      () => false,
    );
    responded(attempt);
    if (!disabled && !(await this.retryUntilDone(disable))) return false;
    if (!(await this.retryUntilDone(() => this.table.record(result)))) return false;
    if (attempt && attempt.outcome !== 'succeeded') this.disabling.attemptFailed(endpoint_id);
    if (state !== 'pending') return false;
    if (delay_ms > 0) this.schedule.wakeIn(endpoint_id, delay_ms);
    return delay_ms === 0;
  }

  /** Gives up trying to record: this process ends and its leases with it. */
  stop(): void {
    this.stopped = true;
  }

  private async attempt(delivery: ClaimedDelivery, fills: boolean): Promise<Evaluated> {
    if (!(await this.secrets.isAuthentic(delivery))) {
      this.log.forged(delivery);
      return { result: notSent(delivery, 'dropped', 0) };
    }
    const destination = await this.destinations.load(delivery.endpoint_id);
    if (!destination || !mayGo(delivery, destination)) {
      this.log.dropped(delivery);
      return { result: notSent(delivery, 'dropped', 0) };
    }
    if ((await this.merchants.find(delivery.merchant_id))?.status === 'suspended')
      return { result: notSent(delivery, 'pending', SUSPENDED_MS) };
    const attempted = await this.log.span(delivery, () => this.send(delivery, destination));
    const result = this.evaluate(delivery, attempted);
    this.log.attempted(delivery, destination.url, result, result.attempt);
    if (!fills) this.log.firstAttempt(delivery, result.attempt);
    if (attempted.outcome !== 'gone') return { result };
    const attempt = { attempted_url: destination.url, attempted_at: attempted.startedAt.toISOString() };
    return { result, gone: { cause: 'gone', delivery_id: delivery.delivery_id, ...attempt } };
  }

  private async send(delivery: ClaimedDelivery, destination: Destination): Promise<Attempted> {
    const startedAt = this.clock.now();
    const began = performance.now();
    const timestamp = Math.floor(startedAt.getTime() / 1000);
    const { delivery_id: id, body } = delivery;
    const headers = {
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': this.secrets.sign(delivery, destination, startedAt, { id, timestamp, body }),
    };
    const received = await this.receivers.post(destination.url, headers, body);
    if (OUT_OF_SOCKETS.test(received.error ?? '')) throw new Error(`no sockets left: ${received.error}`);
    const durationMs = Math.round(performance.now() - began);
    return { received, outcome: outcomeOf(received.response), startedAt, durationMs };
  }

  private evaluate(
    delivery: ClaimedDelivery,
    { received, outcome, startedAt, durationMs }: Attempted,
  ): DeliveryResult & { readonly attempt: AttemptRecord } {
    const { response } = received;
    const attempts = delivery.attempts + 1;
    const schedule = this.config.webhookRetryScheduleSeconds;
    const now = this.clock.now().getTime();
    const requested = response.kind === 'responded' ? retryAfterMs(response.retryAfter, now) : null;
    const round = attempts - delivery.attempts_before;
    const delay =
      outcome === 'retry' ? retryDelayMs(round, response, schedule, Math.random(), requested) : null;
    const failed = delay === null ? 'exhausted' : 'pending';
    return {
      delivery_id: delivery.delivery_id,
      endpoint_id: delivery.endpoint_id,
      state: outcome === 'succeeded' ? 'succeeded' : failed,
      attempts,
      delay_ms: delay ?? 0,
      attempt: {
        started_at: startedAt,
        duration_ms: durationMs,
        outcome,
        http_status: response.kind === 'responded' ? response.status : null,
        failure_phase: response.kind === 'failed' ? response.phase : null,
        error: received.error?.replaceAll('\0', '') ?? null,
        response_excerpt: received.excerpt,
      },
    };
  }

  /** Keeps trying while the database is unavailable: what was sent must not be forgotten as long as this process lives. */
  private async retryUntilDone(write: () => Promise<void>): Promise<boolean> {
    while (!this.stopped) {
      try {
        await write();
        return true;
      } catch (error) {
        this.warnUnrecorded(error as Error);
        await sleep(PAUSE_MS);
      }
    }
    return false;
  }

  private warnUnrecorded(err: Error): void {
    const now = performance.now();
    if (now - this.warnedAt < WARN_EVERY_MS) return;
    this.warnedAt = now;
    this.logger.warn({ msg: 'deliveries not recorded yet', err });
  }
}

function notSent(
  { delivery_id, endpoint_id, attempts }: ClaimedDelivery,
  state: 'pending' | 'dropped',
  delay_ms: number,
): DeliveryResult {
  return { delivery_id, endpoint_id, attempts, state, delay_ms, attempt: null };
}

/** Test deliveries go to disabled endpoints too (contract.md 12.10). */
function mayGo(delivery: ClaimedDelivery, { status }: Destination): boolean {
  return status === 'enabled' || (status === 'disabled' && delivery.is_test);
}
