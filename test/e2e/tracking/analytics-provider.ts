import { ProviderServer, type ProviderCall, type Response } from '../../support/exchange/provider-server.js';

export const API_KEY = 'test-key';

export interface SentEvent {
  readonly user_id?: string;
  readonly device_id?: string;
  readonly event_type?: string;
  readonly time?: number;
  readonly insert_id?: string;
  readonly event_properties?: unknown;
}

const DEVICE_IDS_REFUSED = /^(anonymous|nil|none|null|n\/a|na|undefined|unknown|\{\}|lmy47d|-1|[0-]+)$/i;

/** A local server with the behaviour of https://amplitude.com/docs/apis/analytics/http-v2 (HTTP API V2). */
export class AnalyticsProvider extends ProviderServer {
  /** Events by insert_id, and how often each was accepted. */
  readonly accepted = new Map<string, { readonly event: SentEvent; times: number }>();
  readonly bodies: string[] = [];
  limits = { events: 2000, bytes: 1_000_000 };
  /** Returns the name of an invalid field, or null. */
  invalidField: (event: SentEvent) => string | null = () => null;
  /** Returns whether the provider's firewall blocks a request with this body. */
  blocks: (body: string) => boolean = () => false;
  failsOver: string | null = null;
  silencedDevices = new Set<string>();

  static async start(): Promise<AnalyticsProvider> {
    const provider = new AnalyticsProvider();
    await provider.restart();
    return provider;
  }

  override recover(): void {
    super.recover();
    this.failsOver = null;
  }

  override get url(): string {
    return `${super.url}/2/httpapi`;
  }

  get ids(): string[] {
    return [...this.accepted.keys()].sort();
  }

  protected override respondTo({ path, body: text, bytes }: ProviderCall): Response {
    this.bodies.push(text);
    if (path !== '/2/httpapi') return bad({ error: 'Invalid request path' });
    if (this.failsOver !== null && text.includes(this.failsOver)) return [500, { code: 500 }];
    if (this.blocks(text)) return [403, { code: 403, error: 'Forbidden' }];
    const { api_key, events, options } = JSON.parse(text) as {
      api_key?: string;
      events: SentEvent[];
      options?: { min_id_length?: number };
    };
    if (bytes.length >= this.limits.bytes || events.length >= this.limits.events)
      return [413, { code: 413, error: 'Payload too large' }];
    if (api_key !== API_KEY) return bad({ error: `Invalid API key: ${api_key}` });
    const refusal = this.refusal(events, options?.min_id_length ?? 5);
    if (refusal) return refusal;
    this.take(events);
    const facts = { payload_size_bytes: bytes.length, server_upload_time: Date.now() };
    return [200, { code: 200, events_ingested: events.length, ...facts }];
  }

  /** The documented response names only the first invalid event for each field. */
  private refusal(events: readonly SentEvent[], shortest: number): Response | null {
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
    const silenced = events.flatMap(({ device_id }, index) =>
      this.silencedDevices.has(device_id ?? '') ? [index] : [],
    );
    if (silenced.length === 0) return null;
    return bad({ error: 'Events silenced for device_id', silenced_events: silenced });
  }

  private take(events: readonly SentEvent[]): void {
    for (const event of events) {
      const known = this.accepted.get(event.insert_id!);
      if (known) known.times += 1;
      else this.accepted.set(event.insert_id!, { event, times: 1 });
    }
  }
}

function invalidIn({ time, device_id }: SentEvent): string | null {
  if (!Number.isInteger(time) || time! < 0) return 'time';
  return device_id !== undefined && DEVICE_IDS_REFUSED.test(device_id) ? 'device_id' : null;
}

function first(
  events: readonly SentEvent[],
  fieldOf: (event: SentEvent) => string | null,
): Readonly<Record<string, number[]>> | null {
  const index = events.findIndex((event) => fieldOf(event) !== null);
  return index === -1 ? null : { [fieldOf(events[index]!)!]: [index] };
}

const bad = (fields: object): Response => [400, { code: 400, ...fields }];
