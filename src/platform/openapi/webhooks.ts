import type { Dto } from '../dto/field.js';
import { TIME, UUID } from '../dto/rules.js';

/** One type of webhook: when it is sent, and the class of its `data`. */
export interface WebhookWords {
  readonly type: string;
  readonly when: string;
  readonly data: Dto;
}

const header = (name: string, description: string, schema: object): object => ({
  ...{ name, in: 'header', required: true, description, schema },
});

/** Of Standard Webhooks (contract.md 13.2). */
const HEADERS = [
  header('webhook-id', 'Of the delivery; the same for every attempt. Receive each once.', UUID),
  header('webhook-timestamp', 'Unix seconds of the attempt; refuse what is 5 minutes off.', {
    ...{ type: 'string', pattern: '^[0-9]+$' },
  }),
  header(
    'webhook-signature',
    'Entries `v1,<base64>` separated by spaces, one per valid secret: HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the bytes that follow `whsec_`. One that matches is enough.',
    { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$' },
  ),
];

const RESPONSES = {
  '2XX': { description: 'Received.' },
  410: { description: 'The endpoint is gone: it is disabled.' },
  '4XX': { description: 'Not tried again, but for 408 and 429.' },
  default: { description: 'Tried again, ten times within three days.' },
};

/** The `webhooks` of the document: what the service sends to the endpoints of merchants. */
export function webhooksOf(types: readonly WebhookWords[]): Readonly<Record<string, object>> {
  return Object.fromEntries(
    types.map(({ type, when, data }) => {
      const properties = {
        id: { ...UUID, description: 'As `webhook-id`.' },
        type: { const: type },
        occurred_at: TIME,
        merchant_id: UUID,
        data: { $ref: `#/components/schemas/${data.name}` },
      };
      const schema = { type: 'object', required: Object.keys(properties), properties };
      const post = {
        tags: ['Webhooks'],
        summary: when,
        parameters: HEADERS,
        requestBody: { required: true, content: { 'application/json': { schema } } },
        responses: RESPONSES,
        security: [],
      };
      return [type, { post }];
    }),
  );
}
