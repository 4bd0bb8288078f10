import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { EventStoreUnavailable } from '../../../platform/event-store/port.js';
import { MerchantDirectory } from '../../../platform/http/merchant-directory.js';
import { retryAfterMs, type HttpResult } from '../../../platform/outbound/outbound-request.js';
import { isDatabaseUnavailable } from '../../../platform/postgres/unavailable.js';
import { Log } from '../../../platform/telemetry/logger.js';
import { isTracing, traced } from '../../../platform/telemetry/tracing.js';
import { toOutcome, retryDelayMs, SUSPENDED_MS } from './retry.js';
import { deliveries, deliveryDuration, observeFirstAttempt } from '../webhooks.metrics.js';
import { webhooksConfig, type WebhooksConfig } from '../webhooks.config.js';
import { AutomaticDisablingProcessor } from '../endpoints/automatic-disabling.processor.js';
import {
  DeliveryTable,
  type AttemptRecord,
  type DeliveryClaim,
  type DeliveryResult,
} from './deliveries.store.js';
import { Destinations, type Destination } from '../endpoints/destinations.store.js';
import { Receivers } from './receivers.service.js';
import { SigningSecrets } from '../endpoints/signing-secrets.store.js';

const USER_AGENT = 'svc-Webhooks/1.0';
/** The delay after an internal error of an attempt, and between tries to record its result. */
const PAUSE_MS = 1000;
/** The minimum interval between warnings. Thousands of results may wait in an outage. */
const WARN_EVERY_MS = 10_000;
/** The errors of a process or machine without free sockets. The receiver has not caused them. */
const OUT_OF_SOCKETS = /\b(EMFILE|ENFILE|ENOBUFS)\b/;

/** The result of an attempt, with its destination. */
type SendResult = DeliveryResult & { readonly attempt: AttemptRecord; readonly url: string };

/** Sends deliveries. Each attempt has one log line, one count and one span, without bodies and secrets. */
@Injectable()
export class DeliverySender {
  private readonly logger = new Logger(DeliverySender.name);
  private stopped = false;
  /** The time of the last warning, on the clock of `performance.now()`. */
  private warnedAt = -Infinity;

  constructor(
    private readonly table: DeliveryTable,
    private readonly destinations: Destinations,
    private readonly merchants: MerchantDirectory,
    private readonly secrets: SigningSecrets,
    private readonly log: Log,
    private readonly disabling: AutomaticDisablingProcessor,
    private readonly receivers: Receivers,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(webhooksConfig.KEY) private readonly config: WebhooksConfig,
  ) {}

  /**
   * Sends and records a delivery; never rejects. Returns the milliseconds until it is due again, or null.
   * @param responded called once, before the result is recorded, with the attempt or null when there was none
   * @param fills true if the delivery has the last slot of its endpoint; it may have waited for the receiver
   */
  async deliver(
    delivery: DeliveryClaim,
    responded: (attempt: AttemptRecord | null) => void,
    fills: boolean,
  ): Promise<number | null> {
    const result = await this.attempt(delivery, fills).catch((err: Error): DeliveryResult | SendResult => {
      const { delivery_id, endpoint_id } = delivery;
      this.logger.warn({ msg: 'delivery postponed', delivery_id, endpoint_id, err });
      return notSent(delivery, 'pending', PAUSE_MS);
    });
    const disable = async (): Promise<void> => {
      if ('url' in result && result.attempt.outcome === 'gone') await this.disable(delivery, result);
    };
    // One try precedes `responded`. Further tries follow it, so that an outage does not occupy slots.
    let disabled = disable();
    await disabled.catch(() => undefined);
    responded(result.attempt);
    // The endpoint is disabled before the record. A crash in between repeats the attempt, and thus the 410.
    const isRecorded = await this.retryUntilDone(async () => {
      await disabled.catch(() => (disabled = disable()));
      await this.table.record(result);
    });
    if (!isRecorded) return null;
    if (result.attempt && result.attempt.outcome !== 'succeeded')
      this.disabling.attemptFailed(delivery.endpoint_id);
    return result.state === 'pending' ? result.delay_ms : null;
  }

  /** Stops the retries of failed recordings, because the leases of this process are released next. */
  stop(): void {
    this.stopped = true;
  }

  private async attempt(delivery: DeliveryClaim, fills: boolean): Promise<DeliveryResult | SendResult> {
    if (!(await this.secrets.isAuthentic(delivery)))
      return this.drop(delivery, 'webhook dropped: its MAC is missing or wrong', 'error');
    const destination = await this.destinations.load(delivery.endpoint_id);
    if (!destination || !mayGo(delivery, destination)) return this.drop(delivery, 'webhook dropped', 'info');
    if ((await this.merchants.find(delivery.merchant_id))?.status === 'suspended')
      return notSent(delivery, 'pending', SUSPENDED_MS);
    const send = (): Promise<SendResult> => this.send(delivery, destination);
    const result = isTracing()
      ? await traced('webhook.attempt', { ...toIds(delivery), caused_by: delivery.traceparent ?? '' }, send)
      : await send();
    this.report(delivery, result);
    if (!fills) observeFirstAttempt(delivery, result.attempt.started_at);
    return result;
  }

  private async send(delivery: DeliveryClaim, destination: Destination): Promise<SendResult> {
    const started_at = this.clock.now();
    const began = performance.now();
    const timestamp = Math.floor(started_at.getTime() / 1000);
    const { delivery_id: id, body } = delivery;
    const headers = {
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': this.secrets.sign(delivery, destination, started_at, { id, timestamp, body }),
    };
    const received = await this.receivers.post(destination.url, headers, body);
    if (OUT_OF_SOCKETS.test(received.error ?? '')) throw new Error(`no sockets left: ${received.error}`);
    const outcome = toOutcome(received);
    const attempts = delivery.attempts + 1;
    const delay = outcome === 'retry' ? this.retryDelay(attempts - delivery.attempts_before, received) : null;
    const failed = delay === null ? 'exhausted' : 'pending';
    const response = received.kind === 'response' ? received : null;
    return {
      url: destination.url,
      delivery_id: id,
      endpoint_id: delivery.endpoint_id,
      state: outcome === 'succeeded' ? 'succeeded' : failed,
      attempts,
      delay_ms: delay ?? 0,
      attempt: {
        started_at,
        duration_ms: Math.round(performance.now() - began),
        outcome,
        http_status: response?.status ?? null,
        // The API returns it as `error_class`.
        failure_phase: received.kind === 'failed' ? received.phase : null,
        error: received.error?.replaceAll('\0', '') ?? null,
        response_excerpt: response?.body ?? null,
      },
    };
  }

  private retryDelay(round: number, received: HttpResult): number | null {
    const now = this.clock.now().getTime();
    const requested = received.kind === 'response' ? retryAfterMs(received.retryAfter, now) : null;
    return retryDelayMs(round, received, this.config.webhookRetryScheduleSeconds, Math.random(), requested);
  }

  /** Disables the endpoint. Rejects while the event store or the database is unavailable. */
  private async disable(
    { delivery_id, endpoint_id, merchant_id }: DeliveryClaim,
    { url: attempted_url, attempt }: SendResult,
  ): Promise<void> {
    const attempted_at = attempt.started_at.toISOString();
    const reason = { cause: 'gone', delivery_id, attempted_url, attempted_at } as const;
    await this.disabling.disable({ endpoint_id, merchant_id }, reason).catch((err: Error) => {
      if (err instanceof EventStoreUnavailable || isDatabaseUnavailable(err)) throw err;
      // The stream may contain an event of a newer version. The next 410 or sustained failures disable it.
      this.logger.warn({ msg: 'webhook endpoint not disabled', endpoint_id, err });
    });
  }

  private drop(delivery: DeliveryClaim, msg: string, level: 'info' | 'error'): DeliveryResult {
    deliveries.inc({ outcome: 'dropped' });
    this.log.wideLog(msg, toIds(delivery), level);
    return notSent(delivery, 'dropped', 0);
  }

  private report(delivery: DeliveryClaim, result: SendResult): void {
    const { attempt, state, url } = result;
    deliveries.inc({ outcome: state === 'pending' ? 'failed' : state });
    deliveryDuration.observe(attempt.duration_ms / 1000);
    this.log.wideLog(
      'webhook attempt',
      {
        // The members are listed, because a spread costs more than the rest of the line.
        delivery_id: delivery.delivery_id,
        endpoint_id: delivery.endpoint_id,
        merchant_id: delivery.merchant_id,
        type: delivery.type,
        attempt: result.attempts,
        // The path may contain a token of the merchant; the host does not.
        host: new URL(url).host,
        outcome: attempt.outcome,
        state,
        status: attempt.http_status,
        phase: attempt.failure_phase,
        error: attempt.error,
        late_ms: Math.max(0, attempt.started_at.getTime() - delivery.due_at.getTime()),
        duration_ms: attempt.duration_ms,
        next_in_ms: state === 'pending' ? result.delay_ms : null,
      },
      attempt.outcome === 'succeeded' ? 'info' : 'warn',
    );
  }

  /** Retries a write until it succeeds, so that sent deliveries are recorded. Returns false after `stop`. */
  private async retryUntilDone(write: () => Promise<void>): Promise<boolean> {
    while (!this.stopped) {
      try {
        await write();
        return true;
      } catch (err) {
        const now = performance.now();
        if (now - this.warnedAt >= WARN_EVERY_MS) {
          this.warnedAt = now;
          this.logger.warn({ msg: 'deliveries not recorded yet', err });
        }
        await sleep(PAUSE_MS);
      }
    }
    return false;
  }
}

function notSent(
  { delivery_id, endpoint_id, attempts }: DeliveryClaim,
  state: 'pending' | 'dropped',
  delay_ms: number,
): DeliveryResult {
  return { delivery_id, endpoint_id, attempts, state, delay_ms, attempt: null };
}

/** Checks the status of the endpoint. Test deliveries go to disabled endpoints too (contract.md 12.10). */
function mayGo(delivery: DeliveryClaim, { status }: Destination): boolean {
  return status === 'enabled' || (status === 'disabled' && delivery.is_test);
}

function toIds({ delivery_id, endpoint_id, merchant_id, type }: DeliveryClaim): Record<string, string> {
  return { delivery_id, endpoint_id, merchant_id, type };
}
