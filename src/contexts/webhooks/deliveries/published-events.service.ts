import type { Context } from '../../../platform/context.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { withJsonText } from '../../../platform/json-text/json-text.js';
import { EVENT_TYPES, TEST_TYPE, type EventType } from '../endpoints/event-types.js';
import type { WebhookTestRequested } from '../recoveries/webhook-requests.js';

/** The content of a delivery, without its id. */
export interface PublishedEvent {
  readonly type: EventType;
  readonly occurredAt: string;
  readonly merchantId: string;
  /** The JSON text of `data`, with the fields in the order of contract.md 13.5. */
  readonly data: string;
}

/** Returns the body of a delivery (contract.md 13.1), the exact text that is signed and sent. */
export function envelope(id: string, { type, occurredAt, merchantId, data }: PublishedEvent): string {
  return withJsonText({ id, type, occurred_at: occurredAt, merchant_id: merchantId }, 'data', data);
}

/** Returns the time of the event in a body, or null. Parsing the JSON would cost as much as sending. */
export function occurredAt(body: string): Date | null {
  const [, time] = /^\{"id":"[^"]*","type":"[^"]*","occurred_at":"([^"]+)"/.exec(body) ?? [];
  return time === undefined ? null : new Date(time);
}

export interface Published {
  /** The stored types of published events. */
  readonly events: readonly string[];
  /** Returns the contents that an event publishes, perhaps none; null for a type that is not in `events`. */
  of(event: RecordedEvent): readonly PublishedEvent[] | null;
}

export function testEvent(data: WebhookTestRequested['data']): PublishedEvent {
  return {
    type: TEST_TYPE,
    occurredAt: data.occurred_at,
    merchantId: data.merchant_id,
    data: JSON.stringify({ webhook_endpoint_id: data.endpoint_id, message: data.message }),
  };
}

/** Collects the publications of the contexts. Throws when their types differ from EVENT_TYPES. */
export function publishedBy(contexts: readonly Context[]): Published {
  const publications = new Map(
    contexts.flatMap(({ publishes = {} }) =>
      Object.entries(publishes).map(([event, each]) => [event, [each].flat()] as const),
    ),
  );
  const types = new Set([...publications.values()].flat().map(({ type }) => type));
  const unmapped = EVENT_TYPES.find((type) => type !== TEST_TYPE && !types.has(type));
  if (unmapped !== undefined)
    throw new Error(`the published type ${unmapped} has no mapper: no context publishes it`);
  const stray = [...types].find((type) => !EVENT_TYPES.includes(type as EventType));
  if (stray !== undefined) throw new Error(`the published type ${stray} is not in the catalog of webhooks`);
  return {
    events: [...publications.keys()],
    of: ({ type, data }) => {
      const merchantId = String(data['merchant_id']);
      const published = publications.get(type)?.flatMap((publication): PublishedEvent[] => {
        const content = publication.read(data);
        if (content === null) return [];
        const { occurredAt, fields, text } = content;
        const json = text === undefined ? JSON.stringify(fields) : withJsonText(fields, ...text);
        return [{ type: publication.type as EventType, occurredAt, merchantId, data: json }];
      });
      return published ?? null;
    },
  };
}
