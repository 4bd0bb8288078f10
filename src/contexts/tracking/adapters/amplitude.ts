import type { OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'undici';
import type { Config } from '../../../platform/config/config.js';
import type { Analytics, AnalyticsEvent, SendResult } from '../application/ports.js';
import { AMPLITUDE_WAITS, resultOf, type AmplitudeWaits } from './amplitude-response.js';
import { eventJson } from './event-json.js';

/** A response may name each of the events it refuses, and their users. What is longer is not read. */
const MOST_RESPONSE_BYTES = 1_048_576;

/** Ids that make Amplitude refuse the whole event; then the user's own id has to do. */
const REFUSED_DEVICE_IDS: ReadonlySet<string> = new Set([
  ...['anonymous', 'nil', 'none', 'null', 'n/a', 'na', 'undefined', 'unknown'],
  ...['', '""', '{}', 'lmy47d', '-1'],
]);
const ALL_ZEROS = /^[0-]+$/;

/** Amplitude's HTTP API V2 (`/2/httpapi`), or its batch API (`/batch`), which takes the same requests. ADR 0084. */
export class Amplitude implements Analytics, OnApplicationShutdown {
  readonly name = 'Amplitude';
  /** It takes fewer than 2000 events and less than 1 MB in one request. */
  readonly limits = { events: 1000, bytes: 950_000 };

  private readonly pool: Pool;
  private readonly path: string;
  private readonly opening: string;
  private readonly timeoutMs: number;

  constructor(
    config: Pick<Config, 'amplitudeUrl' | 'analyticsTimeoutMs'> & { readonly amplitudeApiKey: string },
    private readonly waits: AmplitudeWaits = AMPLITUDE_WAITS,
  ) {
    const { origin, pathname, search } = new URL(config.amplitudeUrl);
    this.timeoutMs = config.analyticsTimeoutMs;
    this.pool = new Pool(origin, { connections: 1, connect: { timeout: this.timeoutMs } });
    this.path = `${pathname}${search}`;
    // Ids of merchants may be as short as one character.
    this.opening = `{"api_key":${JSON.stringify(config.amplitudeApiKey)},"options":{"min_id_length":1},"events":[`;
  }

  async send(events: readonly AnalyticsEvent[]): Promise<SendResult> {
    const sent = events.map(acceptable);
    const signal = AbortSignal.timeout(this.timeoutMs);
    try {
      const { statusCode, headers, body } = await this.pool.request({
        method: 'POST',
        path: this.path,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: `${this.opening}${sent.map(eventJson).join()}]}`,
        signal,
      });
      const retryAfter = headers['retry-after'];
      return resultOf(
        {
          status: statusCode,
          retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
          text: await readText(body),
        },
        sent,
        this.waits,
      );
    } catch (error) {
      if (signal.aborted)
        return unavailable('timeout', `no whole response within ${this.timeoutMs / 1000} s`);
      // The code alone: messages may hold what was sent.
      return unavailable('unreachable', (error as { code?: unknown }).code);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.destroy();
  }
}

function acceptable(event: AnalyticsEvent): AnalyticsEvent {
  if (event.deviceId === null) return event;
  const id = event.deviceId.trim().toLowerCase();
  return REFUSED_DEVICE_IDS.has(id) || ALL_ZEROS.test(id) ? { ...event, deviceId: null } : event;
}

/** The text of a response; '' for one that is too long. */
async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MOST_RESPONSE_BYTES) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function unavailable(cause: 'timeout' | 'unreachable', detail: unknown): SendResult {
  const shown = typeof detail === 'string' ? detail : 'the connection failed';
  return { outcome: 'unavailable', cause, detail: shown, retryAfterMs: null };
}
