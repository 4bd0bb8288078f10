import { retryAfterMs, type HttpResponse } from '../../../platform/outbound/outbound-request.js';
import type {
  AnalyticsEvent,
  UnavailableCause,
  RefusedEvent,
  SendResult,
  ThrottledEvent,
} from '../application/ports.js';

/** How long to wait, in milliseconds, when Amplitude does not say; as its documentation advises (ADR 84). */
export interface AmplitudeWaits {
  /** For a user or device that is throttled. */
  readonly throttled: number;
  /** For one that has used up its day: the day rolls on by the hour. */
  readonly quota: number;
  /** For the project as a whole. */
  readonly project: number;
}

export const AMPLITUDE_WAITS: AmplitudeWaits = { throttled: 30_000, quota: 3_600_000, project: 15_000 };

const MOST_RETRY_AFTER_MS = 3_600_000;

/** The members of a response that are read; anything may stand in them. */
interface Told {
  readonly code?: unknown;
  readonly error?: unknown;
  readonly missing_field?: unknown;
  readonly events_with_missing_fields?: unknown;
  readonly events_with_invalid_fields?: unknown;
  readonly events_with_invalid_id_lengths?: unknown;
  readonly silenced_events?: unknown;
  readonly silenced_devices?: unknown;
  readonly throttled_events?: unknown;
  readonly throttled_users?: unknown;
  readonly throttled_devices?: unknown;
  readonly exceeded_daily_quota_users?: unknown;
  readonly exceeded_daily_quota_devices?: unknown;
}

/** What a response of Amplitude's HTTP API V2, or of its batch API, means for the events that were sent. */
export function resultOf(
  { status, retryAfter, body }: Omit<HttpResponse, 'kind'>,
  events: readonly AnalyticsEvent[],
  waits: AmplitudeWaits,
): SendResult {
  const told = parsed(body.toString('utf8'));
  const ms = retryAfterMs(retryAfter, Date.now());
  const asked = ms === null ? null : Math.min(ms, MOST_RETRY_AFTER_MS);
  if (status === 200) {
    if (told.code === 200) return { outcome: 'accepted' };
    return unavailable('failing', 'answered 200 without saying that it took the events', asked);
  }
  if (status === 400) return badRequest(told, events, waits);
  if (status === 401) return unavailable('unauthorized', 'the API key is refused', asked);
  // Its firewall: something in the request, or whoever sends it.
  if (status === 403) return { outcome: 'rejected', reason: 'forbidden' };
  if (status === 413) return { outcome: 'too_large' };
  if (status === 429) return tooMany(told, events, waits, asked);
  if (status === 408 || status >= 500) return unavailable('failing', `answered ${status}`, asked);
  return unavailable('misconfigured', `answered ${status}`, asked);
}

function badRequest(told: Told, events: readonly AnalyticsEvent[], waits: AmplitudeWaits): SendResult {
  const error = typeof told.error === 'string' ? told.error : '';
  if (/^invalid api key/i.test(error)) return unavailable('unauthorized', 'the API key is refused', null);
  if (/^invalid request path/i.test(error))
    return unavailable('misconfigured', 'the path of the URL is refused', null);
  const refused = refusedOf(told, events);
  const throttled = throttledOf(told, events, waits, false);
  if (refused.length > 0 || throttled.length > 0) return { outcome: 'parted', refused, throttled };
  if (told.missing_field === 'api_key') return unavailable('unauthorized', 'the API key is missing', null);
  return { outcome: 'rejected', reason: 'answered 400' };
}

function tooMany(
  told: Told,
  events: readonly AnalyticsEvent[],
  waits: AmplitudeWaits,
  asked: number | null,
): SendResult {
  const throttled = throttledOf(told, events, waits, true);
  if (throttled.length > 0) return { outcome: 'parted', refused: [], throttled };
  return unavailable('rate_limited', 'answered 429 for the project', asked ?? waits.project);
}

function refusedOf(told: Told, events: readonly AnalyticsEvent[]): RefusedEvent[] {
  const byField = (fields: unknown, reason: (field: string) => string): RefusedEvent[] =>
    Object.entries(record(fields)).flatMap(([field, indexes]) =>
      numbers(indexes).map((index) => ({ index, reason: reason(named(field)) })),
    );
  const silenced = new Set(numbers(told.silenced_events));
  if (silenced.size === 0 && Array.isArray(told.silenced_devices)) {
    const devices = new Set<unknown>(told.silenced_devices);
    events.forEach(
      ({ deviceId }, index) => deviceId !== null && devices.has(deviceId) && silenced.add(index),
    );
  }
  const found = [
    ...byField(told.events_with_missing_fields, (field) => `missing ${field}`),
    ...byField(told.events_with_invalid_fields, (field) => `invalid ${field}`),
    ...byField(told.events_with_invalid_id_lengths, (field) => `invalid length of ${field}`),
    ...[...silenced].map((index) => ({ index, reason: 'silenced device' })),
  ];
  return found.filter(({ index }) => index in events);
}

/** `byIds`: users and devices it names count where it names no events. */
function throttledOf(
  told: Told,
  events: readonly AnalyticsEvent[],
  waits: AmplitudeWaits,
  byIds: boolean,
): ThrottledEvent[] {
  const isNamed = (users: unknown, devices: unknown, { userId, deviceId }: AnalyticsEvent): boolean =>
    Object.hasOwn(record(users), userId) || (deviceId !== null && Object.hasOwn(record(devices), deviceId));
  const indexes = new Set(numbers(told.throttled_events));
  return events.flatMap((event, index) => {
    if (isNamed(told.exceeded_daily_quota_users, told.exceeded_daily_quota_devices, event))
      return [{ index, waitMs: waits.quota }];
    const throttled =
      indexes.has(index) ||
      (byIds && indexes.size === 0 && isNamed(told.throttled_users, told.throttled_devices, event));
    return throttled ? [{ index, waitMs: waits.throttled }] : [];
  });
}

function unavailable(cause: UnavailableCause, detail: string, asked: number | null): SendResult {
  return { outcome: 'unavailable', cause, detail, retryAfterMs: asked };
}

function parsed(text: string): Told {
  try {
    return record(JSON.parse(text));
  } catch {
    return {};
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function numbers(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((each) => Number.isInteger(each)) : [];
}

/** Names of fields are logged; what is no such name might be anything. */
function named(field: string): string {
  return /^[\w.$]{1,64}$/.test(field) ? field : 'field';
}
