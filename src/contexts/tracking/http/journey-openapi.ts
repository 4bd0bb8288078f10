import { problemResponse, type OpenApiFragment } from '../../../platform/openapi/fragment.js';

const parameter = (name: string, description: string, schema: object): object => ({
  name,
  in: 'query',
  description,
  schema,
});

/** The journey of a user (contract.md 17.9). */
export const journeyApi: OpenApiFragment = {
  paths: {
    '/merchants/v1/users/{id}/events': {
      get: {
        operationId: 'listUserEvents',
        tags: ['Events'],
        summary: 'List the events of a user, newest first',
        description:
          'An extension. All events whose user_external_id is the external_id of the user, from before and after the user was created, in the order of event_datetime. Batches are processed after their 202, so that an event shows up a moment later. A user without external_id has no events. With event_name, or with more than 4 MiB of payloads, a page may hold fewer events than page_size; the list is exhausted when next_cursor is null.',
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } },
          parameter('event_name', 'Only events of this name; letter case does not count.', {
            type: 'string',
          }),
          parameter('event_from', 'First day of event_datetime, in UTC.', { type: 'string', format: 'date' }),
          parameter('event_to', 'Last day, inclusive, in UTC.', { type: 'string', format: 'date' }),
          parameter('page_size', 'Events per page.', {
            type: 'integer',
            minimum: 1,
            maximum: 1000,
            default: 100,
          }),
          parameter('page_cursor', 'The next_cursor of the page before.', { type: 'string' }),
        ],
        responses: {
          200: {
            description: 'One page.',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['events', 'next_cursor'],
                  additionalProperties: false,
                  properties: {
                    events: {
                      type: 'array',
                      maxItems: 1000,
                      items: { $ref: '#/components/schemas/UserEvent' },
                    },
                    next_cursor: { type: ['string', 'null'] },
                  },
                },
              },
            },
          },
          400: problemResponse('A filter, page_size or page_cursor is invalid; detail names it.'),
          404: problemResponse('The merchant has no such user.'),
        },
      },
    },
  },
  schemas: {
    UserEvent: {
      type: 'object',
      additionalProperties: false,
      required: [
        'event_id',
        'event_name',
        'event_datetime',
        'user_external_id',
        'device_id',
        'payload',
        'received_at',
      ],
      properties: {
        event_id: { type: 'string', format: 'uuid' },
        event_name: { type: 'string', description: 'In lower case.' },
        event_datetime: {
          type: 'string',
          format: 'date-time',
          description: 'In UTC, with milliseconds, or microseconds when it has any.',
        },
        user_external_id: { type: 'string' },
        device_id: { type: ['string', 'null'] },
        payload: { type: 'object', description: 'The text that was sent, byte for byte.' },
        received_at: {
          type: 'string',
          format: 'date-time',
          description: 'When the batch was accepted.',
        },
      },
    },
  },
};
