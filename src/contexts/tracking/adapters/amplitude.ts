import type { OnApplicationShutdown } from '@nestjs/common';
import { HOUR_MS } from '../../../kernel/clock.js';
import { retryAfterMs, type HttpResponse } from '../../../platform/outbound/outbound-request.js';
import { OperatorHosts } from '../../../platform/outbound/guarded-hosts.js';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import type {
  AnalyticsEvent,
  UnavailableCause,
  RefusedEvent,
  SendResult,
  ThrottledEvent,
  Analytics,
} from '../application/ports.js';
import type { TrackingConfig } from '../settings.js';
import type { ProcessConfig } from '../../../platform/config/config.js';
import type { Database } from '../../../platform/postgres/database.js';

/** How long to wait, in milliseconds, when Amplitude does not say; as its documentation advises (ADR 84). */
export interface AmplitudeWaits {
  /** For a user or device that is throttled. */
  readonly throttled: number;
  /** For one that has used up its day: the day rolls on by the hour. */
  readonly quota: number;
  /** For the project as a whole. */
  readonly project: number;
}

export const AMPLITUDE_WAITS: AmplitudeWaits = { throttled: 30_000, quota: HOUR_MS, project: 15_000 };

const MAX_RETRY_AFTER_MS = HOUR_MS;

/** A JSON object from the response: every value is checked before it is used. */
type ResponseBody = Readonly<Record<string, unknown>>;

export function resultOf(
  { status, retryAfter, body }: Omit<HttpResponse, 'kind'>,
  events: readonly AnalyticsEvent[],
  waits: AmplitudeWaits,
): SendResult {
  const reply = parsed(body.toString('utf8'));
  const ms = retryAfterMs(retryAfter, Date.now());
  const waitMs = ms === null ? null : Math.min(ms, MAX_RETRY_AFTER_MS);
  if (status === 200) {
    if (reply['code'] === 200) return { outcome: 'accepted' };
    return unavailable('failing', 'responded 200 without accepting the events', waitMs);
  }
  if (status === 400) return badRequest(reply, events, waits);
  if (status === 401) return unavailable('unauthorized', 'the API key is refused', waitMs);
  // From its firewall.
  if (status === 403) return { outcome: 'rejected', reason: 'forbidden' };
  if (status === 413) return { outcome: 'too_large' };
  if (status === 429) return tooMany(reply, events, waits, waitMs);
  if (status === 408 || status >= 500) return unavailable('failing', `responded ${status}`, waitMs);
  return unavailable('misconfigured', `responded ${status}`, waitMs);
}

function badRequest(
  reply: ResponseBody,
  events: readonly AnalyticsEvent[],
  waits: AmplitudeWaits,
): SendResult {
  const error = typeof reply['error'] === 'string' ? reply['error'] : '';
  if (/^invalid api key/i.test(error)) return unavailable('unauthorized', 'the API key is refused', null);
  if (/^invalid request path/i.test(error))
    return unavailable('misconfigured', 'the path of the URL is refused', null);
  const refused = refusedOf(reply, events);
  const throttled = throttledOf(reply, events, waits, false);
  if (refused.length > 0 || throttled.length > 0) return { outcome: 'parted', refused, throttled };
  if (reply['missing_field'] === 'api_key')
    return unavailable('unauthorized', 'the API key is missing', null);
  return { outcome: 'rejected', reason: 'responded 400' };
}

function tooMany(
  reply: ResponseBody,
  events: readonly AnalyticsEvent[],
  waits: AmplitudeWaits,
  waitMs: number | null,
): SendResult {
  const throttled = throttledOf(reply, events, waits, true);
  if (throttled.length > 0) return { outcome: 'parted', refused: [], throttled };
  return unavailable('rate_limited', 'responded 429 for the project', waitMs ?? waits.project);
}

function refusedOf(reply: ResponseBody, events: readonly AnalyticsEvent[]): RefusedEvent[] {
  const byField = (fields: unknown, reason: (field: string) => string): RefusedEvent[] =>
    Object.entries(record(fields)).flatMap(([field, indexes]) =>
      numbers(indexes).map((index) => ({ index, reason: reason(named(field)) })),
    );
  const silenced = new Set(numbers(reply['silenced_events']));
  if (silenced.size === 0 && Array.isArray(reply['silenced_devices'])) {
    const devices = new Set<unknown>(reply['silenced_devices']);
    events.forEach(
      ({ deviceId }, index) => deviceId !== null && devices.has(deviceId) && silenced.add(index),
    );
  }
  const found = [
    ...byField(reply['events_with_missing_fields'], (field) => `missing ${field}`),
    ...byField(reply['events_with_invalid_fields'], (field) => `invalid ${field}`),
    ...byField(reply['events_with_invalid_id_lengths'], (field) => `invalid length of ${field}`),
    ...[...silenced].map((index) => ({ index, reason: 'silenced device' })),
  ];
  return found.filter(({ index }) => index in events);
}

/** `byIds`: where the response names no events, the users and devices it names count. */
function throttledOf(
  reply: ResponseBody,
  events: readonly AnalyticsEvent[],
  waits: AmplitudeWaits,
  byIds: boolean,
): ThrottledEvent[] {
  const isNamed = (users: unknown, devices: unknown, { userId, deviceId }: AnalyticsEvent): boolean =>
    Object.hasOwn(record(users), userId) || (deviceId !== null && Object.hasOwn(record(devices), deviceId));
  const indexes = new Set(numbers(reply['throttled_events']));
  return events.flatMap((event, index) => {
    if (isNamed(reply['exceeded_daily_quota_users'], reply['exceeded_daily_quota_devices'], event))
      return [{ index, waitMs: waits.quota }];
    const throttled =
      indexes.has(index) ||
      (byIds && indexes.size === 0 && isNamed(reply['throttled_users'], reply['throttled_devices'], event));
    return throttled ? [{ index, waitMs: waits.throttled }] : [];
  });
}

function unavailable(cause: UnavailableCause, detail: string, waitMs: number | null): SendResult {
  return { outcome: 'unavailable', cause, detail, retryAfterMs: waitMs };
}

function parsed(text: string): ResponseBody {
  try {
    return record(JSON.parse(text));
  } catch {
    return {};
  }
}

function record(value: unknown): ResponseBody {
  return typeof value === 'object' && value !== null ? (value as ResponseBody) : {};
}

function numbers(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((each) => Number.isInteger(each)) : [];
}

/** Names of fields are logged, so other text is replaced. */
function named(field: string): string {
  return /^[\w.$]{1,64}$/.test(field) ? field : 'field';
}

/** A response may name every refused event and its user. */
const MAX_RESPONSE_BYTES = 1_048_576;

/** Device ids for which Amplitude refuses the whole event. */
const REFUSED_DEVICE_IDS: ReadonlySet<string> = new Set([
  'anonymous',
  'nil',
  'none',
  'null',
  'n/a',
  'na',
  'undefined',
  'unknown',
  '',
  '""',
  '{}',
  'lmy47d',
  '-1',
]);
const ALL_ZEROS = /^[0-]+$/;

/** Amplitude's HTTP API V2 (`/2/httpapi`), or its batch API (`/batch`), which takes the same requests. ADR 84. */
export class Amplitude implements Analytics, OnApplicationShutdown {
  readonly name = 'Amplitude';
  /** It takes fewer than 2000 events and less than 1 MB in one request. */
  readonly limits = { events: 1000, bytes: 950_000 };

  private readonly client: OutboundClient;
  private readonly url: string;
  private readonly prefix: string;

  constructor(
    config: TrackingConfig & { readonly amplitudeApiKey: string },
    private readonly waits: AmplitudeWaits = AMPLITUDE_WAITS,
  ) {
    const limits = { bodyBytes: MAX_RESPONSE_BYTES, keptBytes: MAX_RESPONSE_BYTES };
    this.client = new OutboundClient(new OperatorHosts(), {
      timeoutMs: config.analyticsTimeoutMs,
      ...limits,
    });
    this.url = config.amplitudeUrl;
    this.prefix = `{"api_key":${JSON.stringify(config.amplitudeApiKey)},"options":{"min_id_length":1},"events":[`;
  }

  async send(events: readonly AnalyticsEvent[]): Promise<SendResult> {
    const sent = events.map(acceptable);
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const body = `${this.prefix}${sent.map(eventJson).join()}]}`;
    const result = await this.client.post(this.url, headers, body);
    if (result.kind === 'response') return resultOf(result, sent, this.waits);
    const cause = result.phase === 'timeout' ? 'timeout' : 'unreachable';
    return { outcome: 'unavailable', cause, detail: result.error, retryAfterMs: null };
  }

  onApplicationShutdown(): Promise<void> {
    return this.client.close();
  }
}

function acceptable(event: AnalyticsEvent): AnalyticsEvent {
  if (event.deviceId === null) return event;
  const id = event.deviceId.trim().toLowerCase();
  return REFUSED_DEVICE_IDS.has(id) || ALL_ZEROS.test(id) ? { ...event, deviceId: null } : event;
}

/** The event as JSON text in Amplitude's terms; the payload stays byte for byte what the merchant sent. */
export function eventJson({ deviceId, ...event }: AnalyticsEvent): string {
  const device = deviceId === null ? '' : `"device_id":${JSON.stringify(deviceId)},`;
  return (
    `{"user_id":${JSON.stringify(event.userId)},${device}"event_type":${JSON.stringify(event.eventType)},` +
    `"time":${event.time},"insert_id":"${event.insertId}","event_properties":${event.payload}}`
  );
}

/** The analytics provider of the sandbox: writes events to `tracking.sandbox_analytics`. */
export class SandboxAnalytics implements Analytics {
  readonly name = 'the table of the sandbox';
  readonly limits = { events: 1000, bytes: 1_000_000 };

  constructor(
    { mode }: ProcessConfig,
    private readonly database: Database,
  ) {
    if (mode === 'production') throw new Error('the sandbox analytics provider does not start in production');
  }

  async send(events: readonly AnalyticsEvent[]): Promise<SendResult> {
    try {
      // Two merchants may have used one event_id.
      await this.database.query(
        `insert into tracking.sandbox_analytics as known (insert_id, event, times)
         select insert_id, (array_agg(event))[1]::json, count(*)
         from unnest($1::uuid[], $2::text[]) as sent (insert_id, event) group by insert_id
         on conflict (insert_id) do update set times = known.times + excluded.times`,
        [events.map(({ insertId }) => insertId), events.map(eventJson)],
      );
      return { outcome: 'accepted' };
    } catch (error) {
      return {
        outcome: 'unavailable',
        cause: 'failing',
        detail: (error as Error).message,
        retryAfterMs: null,
      };
    }
  }
}

/** Amplitude when it has a key, else the sandbox's own provider in the sandbox, else none. */
export function configuredAnalytics(config: TrackingConfig, database: Database): Analytics | null {
  const { amplitudeApiKey, mode } = config;
  if (amplitudeApiKey !== null) return new Amplitude({ ...config, amplitudeApiKey });
  return mode === 'sandbox' ? new SandboxAnalytics(config, database) : null;
}
