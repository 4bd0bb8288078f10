import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { LocalServer } from '../http/local-server.js';

export const API_KEY = 'test-key';

/** An event as it came, in Amplitude's terms. */
export interface SentEvent {
  readonly user_id?: string;
  readonly device_id?: string;
  readonly event_type?: string;
  readonly time?: number;
  readonly insert_id?: string;
  readonly event_properties?: unknown;
}

/** What happens to a request. `accepted, then ...` simulates a lost response. */
export type Fault =
  | 'reset'
  | 'hang'
  | 'accepted, then reset'
  | 'accepted, then hang'
  | 'garbage'
  | { readonly status: number; readonly body?: object; readonly headers?: Readonly<Record<string, string>> };

const DEVICE_IDS_REFUSED = /^(anonymous|nil|none|null|n\/a|na|undefined|unknown|\{\}|lmy47d|-1|[0-]+)$/i;

/** A local server that responds as Amplitude documents its HTTP API V2: https://amplitude.com/docs/apis/analytics/http-v2 */
export class AnalyticsProvider extends LocalServer {
  /** Events by insert_id, and how often each was accepted. */
  readonly accepted = new Map<string, { readonly event: SentEvent; times: number }>();
  /** Bodies of all requests, or just their number. */
  readonly bodies: string[] = [];
  requests = 0;
  keepsBodies = true;

  /** What is wrong with the next requests, one after the other; then nothing. */
  faults: Fault[] = [];
  /** What is wrong with every request after these. */
  always: Fault | null = null;
  apiKey = API_KEY;
  limits = { events: 2000, bytes: 1_000_000 };
  /** The name of a field that is invalid, or null. */
  invalidField: (event: SentEvent) => string | null = () => null;
  /** Whether its firewall blocks a request with such a body. */
  blocks: (body: string) => boolean = () => false;
  /** It breaks down over every request with this event. */
  failsOver: string | null = null;
  silencedDevices = new Set<string>();
  /** The most events of one user or device in a window. */
  rate = { events: Infinity, windowMs: 1000 };
  private window = { began: 0, counts: new Map<string, number>() };

  static async start(): Promise<AnalyticsProvider> {
    const provider = new AnalyticsProvider();
    await provider.restart();
    return provider;
  }

  /** From now on nothing is wrong. */
  recovers(): void {
    this.faults = [];
    this.always = null;
    this.failsOver = null;
  }

  override get url(): string {
    return `${super.url}/2/httpapi`;
  }

  get ids(): string[] {
    return [...this.accepted.keys()].sort();
  }

  stop(): Promise<void> {
    return this.shutDown();
  }

  protected override async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(request).catch(() => null);
    if (bytes === null) return;
    const path = request.url ?? '/';
    const text = bytes.toString('utf8');
    this.requests += 1;
    if (this.keepsBodies) this.bodies.push(text);
    const fault = this.faults.shift() ?? this.always;
    if (typeof fault === 'string' && fault.startsWith('accepted')) this.evaluated(path, bytes, text);
    if (fault === 'reset' || fault === 'accepted, then reset') response.destroy();
    else if (fault === 'hang' || fault === 'accepted, then hang') return;
    else if (fault === 'garbage') response.writeHead(200).end('<html>');
    else if (fault !== null) say(response, fault.status, fault.body ?? {}, fault.headers);
    else say(response, ...this.evaluated(path, bytes, text));
  }

  private evaluated(path: string, bytes: Buffer, text: string): [number, object] {
    if (path !== '/2/httpapi') return bad({ error: 'Invalid request path' });
    if (this.failsOver !== null && text.includes(this.failsOver)) return [500, { code: 500 }];
    if (this.blocks(text)) return [403, { code: 403, error: 'Forbidden' }];
    if (bytes.length >= this.limits.bytes) return tooLarge();
    const events = eventsOf(text);
    if (events === null) return bad({ error: 'Invalid JSON request body' });
    const { api_key, options } = JSON.parse(text) as {
      api_key?: string;
      options?: { min_id_length?: number };
    };
    if (api_key === undefined)
      return bad({ error: 'Request missing required field', missing_field: 'api_key' });
    if (api_key !== this.apiKey) return bad({ error: `Invalid API key: ${api_key}` });
    if (events.length >= this.limits.events) return tooLarge();
    const refusal = this.refusal(events, options?.min_id_length ?? 5) ?? this.throttling(events);
    if (refusal) return refusal;
    this.take(events);
    const facts = { payload_size_bytes: bytes.length, server_upload_time: Date.now() };
    return [200, { code: 200, events_ingested: events.length, ...facts }];
  }

  /** As documented, only the first event at fault is named for each field. */
  private refusal(events: readonly SentEvent[], shortest: number): [number, object] | null {
    const missing = first(events, (each) => (each.event_type ? null : 'event_type'));
    if (missing) return bad({ error: 'Request missing required field', events_with_missing_fields: missing });
    const short = first(
      events,
      (each) =>
        (['user_id', 'device_id'] as const).find((name) => (each[name]?.length ?? shortest) < shortest) ??
        null,
    );
    if (short)
      return bad({
        error: 'Invalid id length for user_id or device_id',
        events_with_invalid_id_lengths: short,
      });
    const invalid = first(events, (each) => invalidIn(each) ?? this.invalidField(each));
    if (invalid)
      return bad({ error: 'Invalid field values on some events', events_with_invalid_fields: invalid });
    const silenced = indexes(events, ({ device_id }) => this.silencedDevices.has(device_id ?? ''));
    if (silenced.length === 0) return null;
    return bad({
      error: 'Events silenced for device_id',
      eps_threshold: 30,
      exceeded_daily_quota_devices: {},
      silenced_devices: [...this.silencedDevices],
      silenced_events: silenced,
      throttled_devices: {},
      throttled_events: [],
    });
  }

  private throttling(events: readonly SentEvent[]): [number, object] | null {
    const now = performance.now();
    if (now - this.window.began > this.rate.windowMs) this.window = { began: now, counts: new Map() };
    const counts = new Map(this.window.counts);
    for (const id of events.flatMap(identitiesOf)) counts.set(id, (counts.get(id) ?? 0) + 1);
    const over = new Map([...counts].filter(([, count]) => count > this.rate.events));
    const isOver = (event: SentEvent): boolean => identitiesOf(event).some((id) => over.has(id));
    const throttled = indexes(events, isOver);
    if (throttled.length === 0) {
      this.window.counts = counts;
      return null;
    }
    const rates = (kind: string): object =>
      Object.fromEntries(
        [...over].filter(([id]) => id.startsWith(kind)).map(([id, n]) => [id.slice(kind.length), n]),
      );
    return [
      429,
      {
        code: 429,
        error: 'Too many requests for some devices and users',
        eps_threshold: 30,
        throttled_devices: rates('device '),
        throttled_users: rates('user '),
        exceeded_daily_quota_users: {},
        exceeded_daily_quota_devices: {},
        throttled_events: throttled,
      },
    ];
  }

  private take(events: readonly SentEvent[]): void {
    for (const event of events) {
      const known = this.accepted.get(event.insert_id!);
      if (known) known.times += 1;
      else this.accepted.set(event.insert_id!, { event, times: 1 });
    }
  }
}

function identitiesOf({ user_id, device_id }: SentEvent): string[] {
  return [...(user_id ? [`user ${user_id}`] : []), ...(device_id ? [`device ${device_id}`] : [])];
}

function invalidIn({ time, device_id }: SentEvent): string | null {
  if (!Number.isInteger(time) || time! < 0) return 'time';
  return device_id !== undefined && DEVICE_IDS_REFUSED.test(device_id) ? 'device_id' : null;
}

function eventsOf(text: string): SentEvent[] | null {
  try {
    return (JSON.parse(text) as { events: SentEvent[] }).events;
  } catch {
    return null;
  }
}

function indexes(events: readonly SentEvent[], matches: (event: SentEvent) => boolean): number[] {
  return events.flatMap((event, index) => (matches(event) ? [index] : []));
}

function first(
  events: readonly SentEvent[],
  fieldOf: (event: SentEvent) => string | null,
): Readonly<Record<string, number[]>> | null {
  const index = events.findIndex((event) => fieldOf(event) !== null);
  return index === -1 ? null : { [fieldOf(events[index]!)!]: [index] };
}

function bad(fields: object): [number, object] {
  return [400, { code: 400, ...fields }];
}

function tooLarge(): [number, object] {
  return [413, { code: 413, error: 'Payload too large' }];
}

function say(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
