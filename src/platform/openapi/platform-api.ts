import type { OpenApiFragment } from './fragment.js';

const health = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Health' } } },
});

/** What the platform itself serves, unsigned. */
export const platformApi: OpenApiFragment = {
  paths: {
    '/openapi.json': {
      get: {
        operationId: 'openapi',
        tags: ['Documentation'],
        summary: 'This document',
        responses: {
          200: {
            description: 'An OpenAPI 3.1 document.',
            content: { 'application/json': { schema: { type: 'object' } } },
          },
        },
      },
    },
    '/health/live': {
      get: {
        operationId: 'live',
        tags: ['Health'],
        summary: 'Whether the process serves requests',
        responses: {
          200: {
            description: 'It does.',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['status'],
                  additionalProperties: false,
                  properties: { status: { const: 'ok' } },
                },
              },
            },
          },
        },
      },
    },
    '/health/ready': {
      get: {
        operationId: 'ready',
        tags: ['Health'],
        summary: 'Whether everything the service depends on works',
        responses: {
          200: health('All of it works.'),
          503: health('Something does not; the body says what.'),
        },
      },
    },
  },
  schemas: {},
};
