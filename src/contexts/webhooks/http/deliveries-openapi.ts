import { problemResponse, type OpenApiFragment } from '../../../platform/openapi/fragment.js';
import { DELIVERY_STATUSES } from '../domain/delivery-json.js';
import { EVENT_TYPES } from '../domain/envelope.js';
import { COUNTED } from '../views/endpoint-stats.js';
import { ATTEMPTS_SHOWN } from '../views/find-delivery.js';
import { DEFAULT_PAGE } from './delivery-filter.js';

const uuid = { type: 'string', format: 'uuid' };
const time = { type: 'string', format: 'date-time' };
const timeOrNull = { type: ['string', 'null'], format: 'date-time' };
const count = { type: 'integer', minimum: 0 };

const object = (properties: Readonly<Record<string, object>>): object => ({
  type: 'object',
  required: Object.keys(properties),
  additionalProperties: false,
  properties,
});
const answer = (description: string, properties: Readonly<Record<string, object>>): object => ({
  description,
  content: { 'application/json': { schema: object(properties) } },
});
const schema = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
const query = (name: string, description: string, type: object): object => ({
  ...{ name, in: 'query', description, schema: type },
});

const id = { name: 'id', in: 'path', required: true, schema: uuid };
const noEndpoint = problemResponse('The merchant has no such webhook endpoint.');
const noDelivery = problemResponse('The merchant has no such webhook delivery.');
const malformed = problemResponse('The JSON or the Idempotency-Key is malformed.');
const EXTENSION = 'An extension of the specification.';
const TAG = ['Webhook deliveries'];

const delivery = {
  id: { ...uuid, description: 'The `webhook-id` header; the same for every attempt and resend.' },
  webhook_endpoint_id: uuid,
  type: { enum: [...EVENT_TYPES] },
  status: {
    enum: [...DELIVERY_STATUSES],
    description:
      '`exhausted`: it is not tried again. `dropped`: the endpoint was disabled or deleted; nothing was sent. Both can be sent after all by resend and recover.',
  },
  attempt_count: count,
  created_at: time,
  next_attempt_at: {
    ...timeOrNull,
    description: 'Null unless pending. In the past while an attempt is under way.',
  },
  finished_at: { ...timeOrNull, description: 'Null while pending.' },
};

const attempt = {
  attempt: { type: 'integer', minimum: 1, description: 'Counted on over resends.' },
  started_at: time,
  latency_ms: { ...count, description: 'Until the answer was read, or the attempt given up.' },
  outcome: { enum: ['succeeded', 'failed'] },
  http_status: { type: ['integer', 'null'], description: 'Null when there was no answer.' },
  error_class: {
    type: ['string', 'null'],
    description:
      'Where it broke: address, dns, connect, tls, send, answer, timeout. Null when there was an answer.',
  },
  error: { type: ['string', 'null'], description: 'An error code or a short sentence.' },
  response_excerpt: { type: ['string', 'null'], description: 'The first KiB of the answer, as UTF-8.' },
};

/** Deliveries, resends, recoveries and statistics (contract.md 16). */
export const deliveriesApi: OpenApiFragment = {
  paths: {
    '/merchants/v1/webhook_endpoints/{id}/deliveries': {
      get: {
        operationId: 'listWebhookDeliveries',
        tags: TAG,
        summary: 'List deliveries to an endpoint, newest first',
        description: `${EXTENSION} A page may hold fewer deliveries than page_size, or none, where a filter matches few of many: go on until next_cursor is null.`,
        parameters: [
          id,
          query('status', 'Only deliveries in this status.', { enum: [...DELIVERY_STATUSES] }),
          query('type', 'Only deliveries of this type.', { enum: [...EVENT_TYPES] }),
          query('created_from', 'First day, in UTC.', { type: 'string', format: 'date' }),
          query('created_to', 'Last day, inclusive, in UTC.', { type: 'string', format: 'date' }),
          query('page_size', 'The most deliveries per page.', {
            ...{ type: 'integer', minimum: 1, maximum: 1000, default: DEFAULT_PAGE },
          }),
          query('page_cursor', 'The next_cursor of the page before.', { type: 'string' }),
        ],
        responses: {
          200: answer('One page. The list is exhausted when next_cursor is null.', {
            webhook_deliveries: { type: 'array', maxItems: 1000, items: schema('WebhookDelivery') },
            next_cursor: { type: ['string', 'null'] },
          }),
          400: problemResponse('A filter, page_size or page_cursor is invalid; detail names it.'),
          404: noEndpoint,
        },
      },
    },
    '/merchants/v1/webhook_endpoints/{id}/recover': {
      post: {
        operationId: 'recoverWebhookEndpoint',
        tags: TAG,
        summary: 'Send what an endpoint did not get',
        description: `${EXTENSION} Every delivery created at or after \`since\` that is dropped or exhausted now is sent again, oldest first, in the background and at the pace of the receiver. What fails once more is not taken again. Test deliveries are left out. It ends early when the endpoint is disabled or deleted.`,
        parameters: [id],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['since'],
                properties: { since: { ...time, description: 'RFC 3339, not in the future.' } },
              },
            },
          },
        },
        responses: {
          202: answer('The recovery is under way.', { webhook_recovery: schema('WebhookRecovery') }),
          400: malformed,
          404: noEndpoint,
          409: problemResponse(
            'The endpoint is disabled, or the first request with this Idempotency-Key is under way.',
          ),
          422: problemResponse('since is missing, malformed or in the future.'),
        },
      },
    },
    '/merchants/v1/webhook_endpoints/{id}/stats': {
      get: {
        operationId: 'getWebhookEndpointStats',
        tags: TAG,
        summary: 'How deliveries to an endpoint went',
        description: `${EXTENSION} Deliveries created since a moment, with all their attempts: the newest ${COUNTED} of them. Figures may be five seconds old, and reach as much further back than asked; \`since\` says how far.`,
        parameters: [
          id,
          query('since', 'RFC 3339; 24 hours ago by default, at most 30 days ago, not in the future.', time),
        ],
        responses: {
          200: answer('The figures.', { webhook_endpoint_stats: schema('WebhookEndpointStats') }),
          400: problemResponse('since is malformed, in the future or too long ago.'),
          404: noEndpoint,
        },
      },
    },
    '/merchants/v1/webhook_deliveries/{id}': {
      get: {
        operationId: 'getWebhookDelivery',
        tags: TAG,
        summary: 'Get a delivery with its attempts',
        description: EXTENSION,
        parameters: [id],
        responses: {
          200: answer('The delivery.', { webhook_delivery: schema('WebhookDeliveryDetail') }),
          404: noDelivery,
        },
      },
    },
    '/merchants/v1/webhook_deliveries/{id}/resend': {
      post: {
        operationId: 'resendWebhookDelivery',
        tags: TAG,
        summary: 'Send a delivery again',
        description: `${EXTENSION} It is sent at once under the same \`webhook-id\`, with a fresh timestamp and signature, and the retry schedule begins anew. An attempt that is under way counts as sent again when it succeeds; when it fails the new round follows at once.`,
        parameters: [id],
        responses: {
          202: answer('The delivery is on its way.', { webhook_delivery: schema('WebhookDelivery') }),
          400: malformed,
          404: problemResponse('The merchant has no such webhook delivery, or its endpoint is deleted.'),
          409: problemResponse(
            'The endpoint is disabled, or the first request with this Idempotency-Key is under way.',
          ),
        },
      },
    },
  },
  schemas: {
    WebhookDelivery: object(delivery),
    WebhookDeliveryDetail: object({
      ...delivery,
      payload: { type: 'object', description: 'The envelope that is signed and sent.' },
      attempts: {
        type: 'array',
        description: `Oldest first; after more than ${ATTEMPTS_SHOWN} the newest of them.`,
        maxItems: ATTEMPTS_SHOWN,
        items: object(attempt),
      },
    }),
    WebhookEndpointStats: object({
      webhook_endpoint_id: uuid,
      since: { ...time, description: 'From when deliveries are counted.' },
      truncated: {
        type: 'boolean',
        description: `More than ${COUNTED} were created since the moment that was asked for; \`since\` is a later one.`,
      },
      deliveries: object(Object.fromEntries(DELIVERY_STATUSES.map((status) => [status, count]))),
      attempts: object({ succeeded: count, failed: count }),
      failures: {
        type: 'object',
        description:
          'Failed attempts by error class, and by http_3xx, http_4xx, http_5xx where there was an answer.',
        additionalProperties: count,
      },
      latency_ms: {
        ...object({ p50: count, p95: count, p99: count }),
        type: ['object', 'null'],
        description: 'Of attempts that were answered; null when none was.',
      },
      pending_now: { ...count, description: `Whenever they were created; counted up to ${COUNTED}.` },
      oldest_due_at: {
        ...timeOrNull,
        description:
          'Since when the longest waiting delivery is due that is not being sent; null when none is.',
      },
    }),
    WebhookRecovery: object({ id: uuid, webhook_endpoint_id: uuid, since: time, requested_at: time }),
  },
};
