import { problemResponse } from './fragment.js';

const problem = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'errors'],
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string', minLength: 1 },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', minLength: 1 },
    instance: { type: 'null' },
    errors: {
      type: 'object',
      description: 'On 422: field name to messages.',
      additionalProperties: { type: 'array', items: { type: 'string' }, minItems: 1 },
    },
  },
} as const;

export const sharedSchemas = {
  Problem: { ...problem, unevaluatedProperties: false },
  SignatureProblem: {
    ...problem,
    properties: {
      ...problem.properties,
      title: { const: 'Invalid request signature' },
      status: { const: 401 },
      string_to_sign_bytes: {
        type: 'array',
        description: 'The bytes that the server signed; only when the signature did not match.',
        items: { type: 'integer', minimum: 0, maximum: 255 },
      },
    },
    additionalProperties: false,
  },
  Health: {
    type: 'object',
    required: ['status', 'checks'],
    additionalProperties: false,
    properties: {
      status: { enum: ['ok', 'unavailable'] },
      checks: {
        type: 'object',
        additionalProperties: {
          type: 'object',
          required: ['status'],
          additionalProperties: false,
          properties: { status: { enum: ['ok', 'unavailable'] }, detail: { type: 'string' } },
        },
      },
    },
  },
};

const retryAfter = { description: 'Seconds to wait.', schema: { type: 'string', pattern: '^[0-9]+$' } };

export const sharedHeaders = {
  'Request-Id': {
    description: 'Names this request; tell it when you ask for help.',
    schema: { type: 'string', format: 'uuid' },
  },
  'RateLimit-Policy': {
    description: 'The limit and its window in seconds, once the request is authenticated.',
    schema: { type: 'string', examples: ['"merchant";q=100;w=60'] },
  },
  RateLimit: {
    description: 'Requests left, and seconds until the window ends.',
    schema: { type: 'string', examples: ['"merchant";r=57;t=21'] },
  },
  'Idempotent-Replayed': {
    description: 'The answer was given before, to an earlier request with this Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
  'Retry-After': retryAfter,
};

const retried = { headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } };

export const sharedResponses = {
  BadRequest: problemResponse('The JSON, the query or the Idempotency-Key is malformed.'),
  Unauthorized: {
    description:
      'A signing header is missing, the api key is unknown, the time is off, or the signature differs.',
    content: {
      'application/problem+json': { schema: { $ref: '#/components/schemas/SignatureProblem' } },
      'text/plain': { schema: { type: 'string' } },
    },
  },
  Forbidden: problemResponse('The merchant is suspended, or calls from an address outside its allow-list.'),
  Conflict: problemResponse(
    'A request with this Idempotency-Key is in flight, or the transition is not allowed.',
  ),
  TooLarge: problemResponse('The body has 1048576 bytes or more.'),
  UnsupportedMediaType: problemResponse('The body is not called application/json.'),
  Invalid: problemResponse('A field is at fault, or the Idempotency-Key was used for another request.'),
  TooManyRequests: { ...problemResponse('The rate limit is exceeded.'), ...retried },
  Unexpected: problemResponse('Something went wrong inside.'),
  Unavailable: { ...problemResponse('Something the service needs is away; try again.'), ...retried },
};

export const sharedParameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'A uuid in quotes (RFC 9651 string): repeats under it do the thing once.',
    schema: { type: 'string', pattern: '^"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"$' },
  },
};
