import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../../kernel/clock.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { retryAfterMs } from '../../../../platform/outbound/outbound-request.js';
import { outcomeOf, retryDelayMs, type AttemptOutcome } from '../../domain/retry.js';
import { AutomaticDisabling, type GoneEndpoint } from '../automatic-disabling.js';
import { RECEIVERS, type ReceiverResult, type Receivers } from '../ports.js';
import {
  DeliveryTable,
  type AttemptRecord,
  type ClaimedDelivery,
  type DeliveryResult,
} from '../../store/delivery-table.js';
import { Destinations, type Destination } from '../../store/destinations.js';
import { SigningSecrets } from '../signing-secrets.js';
import { AttemptLog } from './attempt-log.js';
import { LaneSchedule } from './lane-schedule.js';

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
  /** Its endpoint responded with 410. */
  readonly gone?: GoneEndpoint;
}

/** One delivery, one attempt: check again where it goes, sign, send, evaluate, record. */
@Injectable()
export class DeliverySender {
  private readonly logger = new Logger(DeliverySender.name);
  private stopped = false;
  /** Deliveries that wait for the database to come back. */
  private unrecorded = 0;
  /** On the clock of `performance.now()`. */
  private warnedAt = -Infinity;

  constructor(
    private readonly table: DeliveryTable,
    private readonly destinations: Destinations,
    private readonly schedule: LaneSchedule,
    private readonly secrets: SigningSecrets,
    private readonly log: AttemptLog,
    private readonly disabling: AutomaticDisabling,
    @Inject(RECEIVERS) private readonly receivers: Receivers,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'webhookRetryScheduleSeconds'>,
  ) {}

  /**
   * Sends and records one. `responded` is called once, before the record, with the attempt or null when there was none.
   * Resolves once it is recorded to whether it is due again at once. Never rejects.
   */
  async deliver(
    delivery: ClaimedDelivery,
    responded: (attempt: AttemptRecord | null) => void,
  ): Promise<boolean> {
    const { result, gone } = await this.attempt(delivery).catch((error: Error): Evaluated => ({
      result: this.postpone(delivery, error),
    }));
    const { attempt } = result;
    // Before the attempt is recorded: a crash in between sends again, and the next 410 disables.
    const disabled = !gone || (await this.retryUntilRecorded(() => this.disabling.disableGone(gone)));
    responded(attempt);
    if (!disabled || !(await this.retryUntilRecorded(() => this.table.record(result)))) return false;
    if (attempt && attempt.outcome !== 'succeeded') this.disabling.attemptFailed(result.endpoint_id);
    if (result.state !== 'pending') return false;
    if (result.delay_ms > 0) this.schedule.expect(result.endpoint_id);
    return result.delay_ms === 0;
  }

  /** Gives up trying to record: this process ends and its leases with it. */
  stop(): void {
    this.stopped = true;
  }

  private async attempt(delivery: ClaimedDelivery): Promise<Evaluated> {
    const { endpoint_id } = delivery;
    if (!(await this.secrets.isAuthentic(delivery))) {
      this.log.forged(delivery);
      return { result: droppedResult(delivery) };
    }
    const destination = this.destinations.known(endpoint_id) ?? (await this.destinations.load(endpoint_id));
    if (!destination || !mayGo(delivery, destination)) {
      this.log.dropped(delivery);
      return { result: droppedResult(delivery) };
    }
    const attempted = await this.log.span(delivery, () => this.send(delivery, destination));
    const result = this.evaluate(delivery, attempted);
    this.log.attempted(delivery, destination.url, result);
    if (attempted.outcome !== 'gone') return { result };
    const { merchant_id, delivery_id } = delivery;
    const gone = { attempted_url: destination.url, attempted_at: attempted.startedAt.toISOString() };
    return { result, gone: { endpoint_id, merchant_id, delivery_id, ...gone } };
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
  ): DeliveryResult {
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
        error: received.error,
        response_excerpt: received.excerpt,
      },
    };
  }

  private postpone(delivery: ClaimedDelivery, error: Error): DeliveryResult {
    this.logger.warn(`delivery ${delivery.delivery_id} postponed: ${error.message}`);
    const { attempts } = delivery;
    return { ...idOf(delivery), state: 'pending', attempts, delay_ms: PAUSE_MS, attempt: null };
  }

  /** Keeps trying while the database is unavailable: what was sent must not be forgotten as long as this process lives. */
  private async retryUntilRecorded(write: () => Promise<void>): Promise<boolean> {
    let waiting = false;
    try {
      while (!this.stopped) {
        try {
          await write();
          return true;
        } catch (error) {
          if (!waiting) this.unrecorded += 1;
          waiting = true;
          this.warnUnrecorded(error as Error);
          await sleep(PAUSE_MS);
        }
      }
      return false;
    } finally {
      if (waiting) this.unrecorded -= 1;
    }
  }

  private warnUnrecorded({ message }: Error): void {
    const now = performance.now();
    if (now - this.warnedAt < WARN_EVERY_MS) return;
    this.warnedAt = now;
    this.logger.warn(`deliveries not recorded yet: ${this.unrecorded} waiting, ${message}`);
  }
}

function idOf({
  delivery_id,
  endpoint_id,
}: ClaimedDelivery): Pick<DeliveryResult, 'delivery_id' | 'endpoint_id'> {
  return { delivery_id, endpoint_id };
}

function droppedResult(delivery: ClaimedDelivery): DeliveryResult {
  const { attempts } = delivery;
  return { ...idOf(delivery), state: 'dropped', attempts, delay_ms: 0, attempt: null };
}

/** Test deliveries go to disabled endpoints too (contract.md 12.10). */
function mayGo(delivery: ClaimedDelivery, { status }: Destination): boolean {
  return status === 'enabled' || (status === 'disabled' && delivery.is_test);
}
