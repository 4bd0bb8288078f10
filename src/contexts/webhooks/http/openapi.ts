import { problemResponse, type OpenApiFragment } from '../../../platform/openapi/fragment.js';
import { FAILURE_COUNT_LIMIT } from '../domain/endpoint-json.js';
import { EVENT_TYPES } from '../domain/envelope.js';
import { OVERLAP_LIMIT_SECONDS } from './webhook-endpoint.dto.js';

const ENDPOINT = '#/components/schemas/WebhookEndpoint';

function json(description: string, field: string, schema: object): object {
  return {
    description,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: [field],
          additionalProperties: false,
          properties: { [field]: schema },
        },
      },
    },
  };
}

function body(schema: string): object {
  return {
    required: true,
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
}

const idParameter = { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } };
const notFound = problemResponse('The merchant has no such webhook endpoint.');
const malformed = problemResponse('The JSON or the Idempotency-Key is malformed.');

const endpointProperties = {
  id: { type: 'string', format: 'uuid' },
  url: { type: 'string', description: 'Where deliveries are POSTed.' },
  description: { type: ['string', 'null'], maxLength: 255 },
  status: { enum: ['enabled', 'disabled'] },
  created_at: { type: 'string', format: 'date-time' },
  updated_at: { type: 'string', format: 'date-time' },
  event_types: {
    type: ['array', 'null'],
    description: 'Types the endpoint hears of; null means all, future ones too.',
    items: { type: 'string' },
  },
  failure_count: {
    type: 'integer',
    minimum: 0,
    maximum: FAILURE_COUNT_LIMIT,
    description: 'Failed attempts that count towards automatic disabling now; enabling clears them.',
  },
  disabled_cause: {
    enum: ['merchant', 'gone', 'failing', null],
    description: 'By a PATCH, by an answer with 410, or by sustained failures; null while enabled.',
  },
  disabled_at: { type: ['string', 'null'], format: 'date-time' },
};
const required = Object.keys(endpointProperties);

const url = {
  type: 'string',
  format: 'uri',
  description: 'An https:// URL at a public address; http:// and loopback only in sandbox mode.',
  examples: ['https://example.com/webhooks'],
};
const description = { type: ['string', 'null'], maxLength: 255, description: 'A label; null clears it.' };
const eventTypes = {
  type: ['array', 'null'],
  description: 'Types to hear of; null or absent means all.',
  minItems: 1,
  uniqueItems: true,
  items: { enum: [...EVENT_TYPES] },
};

/** Webhook endpoints (contract.md 12). */
export const webhooksApi: OpenApiFragment = {
  paths: {
    '/merchants/v1/webhook_endpoints': {
      post: {
        operationId: 'registerWebhookEndpoint',
        tags: ['Webhook endpoints'],
        summary: 'Register an endpoint',
        description: 'This answer alone shows `signing_secret`. A merchant may have 10 endpoints.',
        requestBody: body('NewWebhookEndpoint'),
        responses: {
          201: json('The endpoint was registered, enabled.', 'webhook_endpoint', {
            $ref: '#/components/schemas/WebhookEndpointWithSecret',
          }),
          400: malformed,
          422: problemResponse('The url may not receive webhooks, or the merchant has 10 endpoints already.'),
        },
      },
      get: {
        operationId: 'listWebhookEndpoints',
        tags: ['Webhook endpoints'],
        summary: 'List the endpoints',
        responses: {
          200: json('All endpoints of the merchant, oldest first.', 'webhook_endpoints', {
            type: 'array',
            items: { $ref: ENDPOINT },
          }),
          400: problemResponse('A query parameter: the list has none.'),
        },
      },
    },
    '/merchants/v1/webhook_endpoints/{id}': {
      get: {
        operationId: 'getWebhookEndpoint',
        tags: ['Webhook endpoints'],
        summary: 'Get an endpoint',
        parameters: [idParameter],
        responses: { 200: json('The endpoint.', 'webhook_endpoint', { $ref: ENDPOINT }), 404: notFound },
      },
      patch: {
        operationId: 'updateWebhookEndpoint',
        tags: ['Webhook endpoints'],
        summary: 'Change an endpoint',
        description:
          'What is absent stays as it is. Enabling clears the failures that count towards automatic disabling. ' +
          '`signing_secret` cannot be changed here: 422.',
        parameters: [idParameter],
        requestBody: body('WebhookEndpointChanges'),
        responses: {
          200: json('The endpoint after the change.', 'webhook_endpoint', { $ref: ENDPOINT }),
          400: malformed,
          404: notFound,
          422: problemResponse('A field is malformed, or the url may not receive webhooks.'),
        },
      },
      delete: {
        operationId: 'deleteWebhookEndpoint',
        tags: ['Webhook endpoints'],
        summary: 'Delete an endpoint',
        description: 'Deliveries still to be sent to it are dropped.',
        parameters: [idParameter],
        responses: { 204: { description: 'The endpoint is gone.' }, 400: malformed, 404: notFound },
      },
    },
    '/merchants/v1/webhook_endpoints/{id}/rotate_secret': {
      post: {
        operationId: 'rotateWebhookSecret',
        tags: ['Webhook endpoints'],
        summary: 'Rotate the signing secret',
        description:
          'An extension. This answer alone shows the fresh `signing_secret`. Until the overlap ends `webhook-signature` ' +
          'holds an entry for each valid secret, the newest first.',
        parameters: [idParameter],
        requestBody: { ...body('SecretRotation'), required: false },
        responses: {
          200: json('The endpoint with its fresh secret.', 'webhook_endpoint', {
            $ref: '#/components/schemas/WebhookEndpointWithSecret',
          }),
          400: malformed,
          404: notFound,
          409: problemResponse(
            'Four former secrets are still valid, or a request with this Idempotency-Key is under way.',
          ),
          422: problemResponse('overlap_seconds is no integer from 0 to 86400.'),
        },
      },
    },
    '/merchants/v1/webhook_endpoints/{id}/test_delivery': {
      post: {
        operationId: 'testWebhookEndpoint',
        tags: ['Webhook endpoints'],
        summary: 'Send a test delivery',
        description: 'A `webhook_endpoint.test` event goes out, also to a disabled endpoint.',
        parameters: [idParameter],
        responses: {
          202: json('The delivery is on its way.', 'webhook_delivery', {
            $ref: '#/components/schemas/WebhookTestDelivery',
          }),
          400: malformed,
          404: notFound,
        },
      },
    },
  },
  schemas: {
    SecretRotation: {
      type: 'object',
      properties: {
        overlap_seconds: {
          type: 'integer',
          minimum: 0,
          maximum: OVERLAP_LIMIT_SECONDS,
          default: OVERLAP_LIMIT_SECONDS,
          description: 'How long the replaced secret signs too.',
        },
      },
    },
    NewWebhookEndpoint: wrapped({
      type: 'object',
      required: ['url'],
      properties: { url, description, event_types: eventTypes },
    }),
    WebhookEndpointChanges: wrapped({
      type: 'object',
      properties: { url, description, status: { enum: ['enabled', 'disabled'] }, event_types: eventTypes },
    }),
    WebhookEndpoint: {
      type: 'object',
      additionalProperties: false,
      required,
      properties: endpointProperties,
    },
    WebhookEndpointWithSecret: {
      type: 'object',
      additionalProperties: false,
      required: [...required, 'signing_secret'],
      properties: {
        ...endpointProperties,
        signing_secret: { type: 'string', pattern: '^whsec_[A-Za-z0-9+/]{43}=$' },
      },
    },
    WebhookTestDelivery: {
      type: 'object',
      additionalProperties: false,
      required: ['id', 'type', 'occurred_at', 'data'],
      properties: {
        id: { type: 'string', format: 'uuid', description: 'The `webhook-id` header of the delivery.' },
        type: { const: 'webhook_endpoint.test' },
        occurred_at: { type: 'string', format: 'date-time' },
        data: {
          type: 'object',
          additionalProperties: false,
          required: ['webhook_endpoint_id', 'message'],
          properties: {
            webhook_endpoint_id: { type: 'string', format: 'uuid' },
            message: { type: 'string' },
          },
        },
      },
    },
  },
};

function wrapped(schema: object): object {
  return { type: 'object', required: ['webhook_endpoint'], properties: { webhook_endpoint: schema } };
}
