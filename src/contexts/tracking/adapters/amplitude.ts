import type { OnApplicationShutdown } from '@nestjs/common';
import type { Config } from '../../../platform/config/config.js';
import { OperatorHosts } from '../../../platform/outbound/guarded-hosts.js';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import type { Analytics, AnalyticsEvent, SendResult } from '../application/ports.js';
import { AMPLITUDE_WAITS, resultOf, type AmplitudeWaits } from './amplitude-response.js';

/** A response may name each of the events it refuses, and their users. What is longer is not read. */
const MOST_RESPONSE_BYTES = 1_048_576;

/** Ids that make Amplitude refuse the whole event; then the user's own id has to do. */
const REFUSED_DEVICE_IDS: ReadonlySet<string> = new Set([
  ...['anonymous', 'nil', 'none', 'null', 'n/a', 'na', 'undefined', 'unknown'],
  ...['', '""', '{}', 'lmy47d', '-1'],
]);
const ALL_ZEROS = /^[0-]+$/;

/** Amplitude's HTTP API V2 (`/2/httpapi`), or its batch API (`/batch`), which takes the same requests. ADR 84. */
export class Amplitude implements Analytics, OnApplicationShutdown {
  readonly name = 'Amplitude';
  /** It takes fewer than 2000 events and less than 1 MB in one request. */
  readonly limits = { events: 1000, bytes: 950_000 };

  private readonly client: OutboundClient;
  private readonly url: string;
  private readonly opening: string;

  constructor(
    config: Pick<Config, 'amplitudeUrl' | 'analyticsTimeoutMs'> & { readonly amplitudeApiKey: string },
    private readonly waits: AmplitudeWaits = AMPLITUDE_WAITS,
  ) {
    const limits = { bodyBytes: MOST_RESPONSE_BYTES, keptBytes: MOST_RESPONSE_BYTES };
    this.client = new OutboundClient(new OperatorHosts(), {
      timeoutMs: config.analyticsTimeoutMs,
      ...limits,
    });
    this.url = config.amplitudeUrl;
    // Ids of merchants may be as short as one character.
    this.opening = `{"api_key":${JSON.stringify(config.amplitudeApiKey)},"options":{"min_id_length":1},"events":[`;
  }

  async send(events: readonly AnalyticsEvent[]): Promise<SendResult> {
    const sent = events.map(acceptable);
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const body = `${this.opening}${sent.map(eventJson).join()}]}`;
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
