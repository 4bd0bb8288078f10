import type { OnApplicationShutdown } from '@nestjs/common';
import { HOUR_MS } from '../../../kernel/clock.js';
import { retryAfterMs, type HttpResponse } from '../../../platform/outbound/outbound-request.js';
import { OperatorHosts } from '../../../platform/outbound/guarded-hosts.js';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import type { Analytics, AnalyticsEvent, SendResult, Unavailable } from './analytics.ports.js';
import type { TrackingConfig } from '../tracking.config.js';

/** The waits in ms after throttled events, an exceeded daily quota or a throttled project (ADR 84). */
export const AMPLITUDE_WAITS = { throttled: 30_000, quota: HOUR_MS, project: 15_000 };
export type AmplitudeWaits = Readonly<typeof AMPLITUDE_WAITS>;

const MAX_RETRY_AFTER_MS = HOUR_MS;
/** The maximum size of a request. Amplitude accepts less than 1 MB. */
const MAX_BYTES = 950_000;

/** A parsed JSON object. Each value is validated before use. */
type ResponseBody = Readonly<Record<string, unknown>>;
type Parted = Extract<SendResult, { outcome: 'parted' }>;

export function toResult(
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
  if (status === 413 && events.length > 1) return { outcome: 'too_large' };
  // A small event is refused for another reason than its size.
  if (status === 413 && Buffer.byteLength(events[0]!.payload) * 2 > MAX_BYTES)
    return { outcome: 'parted', refused: [{ index: 0, reason: 'too large' }], throttled: [] };
  if (status === 413) return { outcome: 'rejected', reason: 'too large' };
  // Amplitude's firewall responds with 403.
  if (status === 403) return { outcome: 'rejected', reason: 'forbidden' };
  if (status === 429) {
    const throttled = findThrottled(reply, events, waits, true);
    if (throttled.length > 0) return { outcome: 'parted', refused: [], throttled };
    return unavailable('rate_limited', 'responded 429 for the project', waitMs ?? waits.project);
  }
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
  const refused = findRefused(reply, events);
  const throttled = findThrottled(reply, events, waits, false);
  if (refused.length > 0 || throttled.length > 0) return { outcome: 'parted', refused, throttled };
  return { outcome: 'rejected', reason: 'responded 400' };
}

const FAULTS = [
  ['events_with_missing_fields', 'missing'],
  ['events_with_invalid_fields', 'invalid'],
  ['events_with_invalid_id_lengths', 'invalid length of'],
] as const;

function findRefused(reply: ResponseBody, events: readonly AnalyticsEvent[]): Parted['refused'] {
  const silenced = numbers(reply['silenced_events']);
  const faults = FAULTS.flatMap(([member, fault]) =>
    Object.entries(record(reply[member])).flatMap(([field, indexes]) =>
      numbers(indexes).map((index) => ({ index, reason: `${fault} ${named(field)}` })),
    ),
  );
  const found = [...faults, ...silenced.map((index) => ({ index, reason: 'silenced device' }))];
  return found.filter(({ index }) => index in events);
}

/** Returns the throttled events. If no event is listed, `byIds` selects by listed users and devices. */
function findThrottled(
  reply: ResponseBody,
  events: readonly AnalyticsEvent[],
  waits: AmplitudeWaits,
  byIds: boolean,
): Parted['throttled'] {
  const isNamed = (kind: 'throttled' | 'exceeded_daily_quota', event: AnalyticsEvent): boolean =>
    Object.hasOwn(record(reply[`${kind}_users`]), toUser(event)) ||
    (event.device_id !== null && Object.hasOwn(record(reply[`${kind}_devices`]), event.device_id));
  const indexes = new Set(numbers(reply['throttled_events']));
  return events.flatMap((event, index) => {
    if (isNamed('exceeded_daily_quota', event)) return [{ index, waitMs: waits.quota }];
    const isThrottled = indexes.has(index) || (byIds && indexes.size === 0 && isNamed('throttled', event));
    return isThrottled ? [{ index, waitMs: waits.throttled }] : [];
  });
}

function unavailable(cause: Unavailable['cause'], detail: string, waitMs: number | null): Unavailable {
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

/** Replaces a text that is not a field name, because the result is logged. */
function named(field: string): string {
  return /^[\w.$]{1,64}$/.test(field) ? field : 'field';
}

const MAX_RESPONSE_BYTES = 1_048_576;

const REFUSED_DEVICE_ID = /^(?:anonymous|nil|none|null|n\/a|na|undefined|unknown|""|\{\}|lmy47d|-1|[0-]*)$/i;

/** The client of Amplitude's HTTP API V2 (ADR 84). The batch API (`/batch`) accepts the same requests. */
export class Amplitude implements Analytics, OnApplicationShutdown {
  readonly name = 'Amplitude';
  /** Amplitude accepts fewer than 2000 events per request. */
  readonly limits = { events: 1000, bytes: MAX_BYTES };

  private readonly client: OutboundClient;
  private readonly url: string;
  private readonly prefix: string;

  constructor(
    config: TrackingConfig & { readonly amplitudeApiKey: string },
    private readonly waits: AmplitudeWaits = AMPLITUDE_WAITS,
  ) {
    this.client = new OutboundClient(new OperatorHosts(), {
      timeoutMs: config.analyticsTimeoutMs,
      bodyBytes: MAX_RESPONSE_BYTES,
      keptBytes: MAX_RESPONSE_BYTES,
    });
    this.url = config.amplitudeUrl;
    this.prefix = `{"api_key":${JSON.stringify(config.amplitudeApiKey)},"options":{"min_id_length":1},"events":[`;
  }

  async send(events: readonly AnalyticsEvent[]): Promise<SendResult> {
    const sent = events.map(acceptable);
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const body = `${this.prefix}${sent.map(eventJson).join()}]}`;
    const result = await this.client.post(this.url, headers, body);
    if (result.kind === 'response') return toResult(result, sent, this.waits);
    const cause = result.phase === 'timeout' ? 'timeout' : 'unreachable';
    return unavailable(cause, result.error, null);
  }

  onApplicationShutdown(): Promise<void> {
    return this.client.close();
  }
}

function acceptable(event: AnalyticsEvent): AnalyticsEvent {
  return REFUSED_DEVICE_ID.test(event.device_id?.trim() ?? '') ? { ...event, device_id: null } : event;
}

function toUser({ merchant_id, user_external_id }: AnalyticsEvent): string {
  return `${merchant_id}:${user_external_id}`;
}

/** Returns the event in Amplitude's format; the payload is copied byte for byte. */
export function eventJson(event: AnalyticsEvent): string {
  const { event_id, event_name, event_datetime, device_id, payload } = event;
  const device = device_id === null ? '' : `"device_id":${JSON.stringify(device_id)},`;
  return (
    `{"user_id":${JSON.stringify(toUser(event))},${device}"event_type":${JSON.stringify(event_name)},` +
    `"time":${Date.parse(event_datetime)},"insert_id":"${event_id}","event_properties":${payload}}`
  );
}

export function configuredAnalytics(config: TrackingConfig): Analytics | null {
  const { amplitudeApiKey } = config;
  return amplitudeApiKey === null ? null : new Amplitude({ ...config, amplitudeApiKey });
}
