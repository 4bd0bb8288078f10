import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { upTo } from '../../../platform/cache-size.js';
import { EventStoreUnavailable } from '../../../platform/event-store/port.js';
import { MERCHANT_DIRECTORY, type MerchantDirectory } from '../../../platform/http/merchant-directory.js';
import { retryAfterMs, type HttpResult } from '../../../platform/outbound/outbound-request.js';
import { isDatabaseUnavailable } from '../../../platform/postgres/unavailable.js';
import { Log } from '../../../platform/telemetry/logger.js';
import { isTracing, traced } from '../../../platform/telemetry/tracing.js';
import { toOutcome, retryDelayMs, SUSPENDED_MS } from '../domain/retry.js';
import { deliveries, deliveryDuration, observeFirstAttempt } from '../metrics.js';
import { webhooksConfig, type WebhooksConfig } from '../settings.js';
import { AutomaticDisabling } from './automatic-disabling.js';
import {
  DeliveryTable,
  type AttemptRecord,
  type DeliveryClaim,
  type DeliveryResult,
} from './delivery-table.js';
import { Destinations, type Destination } from './destinations.js';
import { Receivers } from './receivers.js';
import { SigningSecrets } from './signing-secrets.js';

const USER_AGENT = 'svc-Webhooks/1.0';
/** Pause after a delivery that could not be decided here (the event store was unavailable), and between tries to record one. */
const PAUSE_MS = 1000;
/**
 * The pause between two log lines about deliveries that cannot be recorded. Thousands may wait for the database at
 * once.
 */
const WARN_EVERY_MS = 10_000;
/** The system's errors when this process or machine has no sockets left, which are no fault of a receiver. */
const OUT_OF_SOCKETS = /\b(EMFILE|ENFILE|ENOBUFS)\b/;

type SendResult = DeliveryResult & { readonly attempt: AttemptRecord };

/**
 * One delivery, one attempt: check again where it goes, and whether its merchant is suspended, sign, send, evaluate,
 * record. Operators see one wide line, one count and one span of each; no bodies, no secrets.
 */
@Injectable()
export class DeliverySender {
  private readonly logger = new Logger(DeliverySender.name);
  /** The hosts by URL. */
  private readonly hosts = new LRUCache<string, string>({
    ...upTo(10_000),
    memoMethod: (url) => new URL(url).host,
  });
  private stopped = false;
  /** The time of the last warning, on the clock of `performance.now()`. */
  private warnedAt = -Infinity;

  constructor(
    private readonly table: DeliveryTable,
    private readonly destinations: Destinations,
    @Inject(MERCHANT_DIRECTORY) private readonly merchants: MerchantDirectory,
    private readonly secrets: SigningSecrets,
    private readonly log: Log,
    private readonly disabling: AutomaticDisabling,
    private readonly receivers: Receivers,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(webhooksConfig.KEY) private readonly config: WebhooksConfig,
  ) {}

  /**
   * Sends and records one. `responded` is called once, before the record, with the attempt or null when there was none.
   * `fills`: it takes the last slot of its endpoint, and may have waited for the receiver.
   * Resolves once it is recorded to the milliseconds until it is due again, or null when it is not. Never rejects.
   */
  async deliver(
    delivery: DeliveryClaim,
    responded: (attempt: AttemptRecord | null) => void,
    fills: boolean,
  ): Promise<number | null> {
    const result = await this.attempt(delivery, fills).catch((err: Error) => {
      const { delivery_id, endpoint_id } = delivery;
      this.logger.warn({ msg: 'delivery postponed', delivery_id, endpoint_id, err });
      return notSent(delivery, 'pending', PAUSE_MS);
    });
    responded(result.attempt);
    if (!(await this.retryUntilDone(() => this.table.record(result)))) return null;
    if (result.attempt && result.attempt.outcome !== 'succeeded')
      this.disabling.attemptFailed(delivery.endpoint_id);
    return result.state === 'pending' ? result.delay_ms : null;
  }

  /** Gives up trying to record: this process ends and its leases with it. */
  stop(): void {
    this.stopped = true;
  }

  private async attempt(delivery: DeliveryClaim, fills: boolean): Promise<DeliveryResult> {
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
    this.report(delivery, destination.url, result);
    if (!fills) observeFirstAttempt(delivery, result.attempt.started_at);
    // The endpoint is disabled before the attempt is recorded: after a crash in between, the next 410 disables it.
    const isDone =
      result.attempt.outcome !== 'gone' ||
      (await this.retryUntilDone(() => this.disable(delivery, destination.url, result.attempt)));
    if (!isDone) throw new Error('the process ends before the endpoint is disabled');
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
        // Merchants see it as `error_class`.
        failure_phase: received.kind === 'failed' ? received.phase : null,
        error: received.error?.replaceAll('\0', '') ?? null,
        response_excerpt: response?.body ?? null,
      },
    };
  }

  /** Milliseconds until the attempt after this one of the round; null when there is none. */
  private retryDelay(round: number, received: HttpResult): number | null {
    const now = this.clock.now().getTime();
    const requested = received.kind === 'response' ? retryAfterMs(received.retryAfter, now) : null;
    return retryDelayMs(round, received, this.config.webhookRetryScheduleSeconds, Math.random(), requested);
  }

  /** Rejects while a store is unavailable. */
  private async disable(
    { delivery_id, endpoint_id, merchant_id }: DeliveryClaim,
    attempted_url: string,
    { started_at }: AttemptRecord,
  ): Promise<void> {
    const attempted_at = started_at.toISOString();
    try {
      const reason = { cause: 'gone', delivery_id, attempted_url, attempted_at } as const;
      await this.disabling.disable({ endpoint_id, merchant_id }, reason);
    } catch (err) {
      if (err instanceof EventStoreUnavailable || isDatabaseUnavailable(err)) throw err;
      // Such as an event of a newer version: the next 410, or its pattern of failures, disables it.
      this.logger.warn({ msg: 'webhook endpoint not disabled', endpoint_id, err });
    }
  }

  private drop(delivery: DeliveryClaim, msg: string, level: 'info' | 'error'): DeliveryResult {
    deliveries.inc({ outcome: 'dropped' });
    this.log.wideLog(msg, toIds(delivery), level);
    return notSent(delivery, 'dropped', 0);
  }

  private report(delivery: DeliveryClaim, url: string, result: SendResult): void {
    const { attempt, state } = result;
    deliveries.inc({ outcome: state === 'pending' ? 'failed' : state });
    deliveryDuration.observe(attempt.duration_ms / 1000);
    this.log.wideLog(
      'webhook attempt',
      {
        // One by one: every attempt writes this line, and a spread costs more than all the rest of it.
        delivery_id: delivery.delivery_id,
        endpoint_id: delivery.endpoint_id,
        merchant_id: delivery.merchant_id,
        type: delivery.type,
        attempt: result.attempts,
        // A path may hold a token of the merchant's; the host does not.
        host: this.hosts.memo(url),
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

  /** Keeps trying while a store is unavailable: what was sent must not be forgotten as long as this process lives. */
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

/** Test deliveries go to disabled endpoints too (contract.md 12.10). */
function mayGo(delivery: DeliveryClaim, { status }: Destination): boolean {
  return status === 'enabled' || (status === 'disabled' && delivery.is_test);
}

function toIds({ delivery_id, endpoint_id, merchant_id, type }: DeliveryClaim): Record<string, string> {
  return { delivery_id, endpoint_id, merchant_id, type };
}
