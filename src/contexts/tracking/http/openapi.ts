import { problemResponse, type OpenApiFragment } from '../../../platform/openapi/fragment.js';

const text = (description: string): object => ({ type: 'string', minLength: 1, maxLength: 255, description });

/** Event batches (contract.md 17). */
export const trackingApi: OpenApiFragment = {
  paths: {
    '/merchants/v1/events': {
      post: {
        operationId: 'sendEvents',
        tags: ['Events'],
        summary: 'Send a batch of events',
        description:
          'Queues 1 to 1000 events. The batch is accepted whole or refused whole: one item at fault refuses all. An event_id that was seen before is a no-op, so that a batch can be sent again until it is accepted. 202 means that the batch is on disk; it is processed soon after.',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/EventBatch' } } },
        },
        responses: {
          202: { description: 'The batch is queued. There is no body and no result per event.' },
          400: problemResponse(
            'The JSON or the Idempotency-Key is malformed, or an event is: detail names the item and the field, such as `events[3].event_id must be a UUID v4`.',
          ),
          409: problemResponse('The first request with this Idempotency-Key is under way.'),
          413: problemResponse('More than 1000 events, or a body of 1048576 bytes or more.'),
          422: problemResponse('The Idempotency-Key was used for another request.'),
        },
      },
    },
  },
  schemas: {
    EventBatch: {
      type: 'object',
      required: ['events'],
      properties: {
        events: {
          type: 'array',
          minItems: 1,
          maxItems: 1000,
          items: { $ref: '#/components/schemas/Event' },
        },
      },
    },
    Event: {
      type: 'object',
      description: 'Other fields are ignored.',
      required: ['event_name', 'payload', 'event_datetime', 'event_id', 'user_external_id'],
      properties: {
        event_name: text('Trimmed; letter case does not count.'),
        payload: {
          type: 'object',
          description: 'Free-form; kept byte for byte. At most 32 levels deep.',
        },
        event_datetime: {
          type: 'string',
          description:
            'When it happened: date and time of ISO 8601, seconds with up to nine decimals. UTC unless an offset says otherwise.',
          examples: ['2026-01-31T12:00:00Z', '2026-01-31T13:00:00.123456+01:00'],
        },
        event_id: {
          type: 'string',
          format: 'uuid',
          description: 'UUID v4 in any letter case; every event counts once per event_id.',
        },
        user_external_id: text('external_id of the user, who need not exist yet. Trimmed.'),
        device_id: {
          type: ['string', 'null'],
          minLength: 1,
          maxLength: 255,
          description: 'Device id at the analytics provider.',
        },
      },
    },
  },
};
