import { applyDecorators, HttpCode, SetMetadata } from '@nestjs/common';
import {
  ApiBody,
  ApiExtension,
  ApiIncludeEndpoint,
  ApiOperation,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import { ApiProperty, type Dto } from '../dto/field.js';

/** The condition of a response, with its body class if any. From status 400 on, the body is a problem. */
type Described = string | readonly [type: Dto, when: string];

interface RouteDescription {
  readonly id: string;
  readonly tag?: string;
  readonly summary: string;
  readonly description?: string;
  /** The body of a route with `@BodyAsBytes()` or `@BodyWithText()`. */
  readonly body?: Dto;
  /** The scopes that a caller of the admin API needs (admin-api.md 2). */
  readonly scopes?: readonly string[];
  readonly responses: Readonly<Record<number, Described>>;
}

export const SCOPES_KEY = 'scopes';

/** Adds a route to the OpenAPI document. The lowest status in `responses` is the status of a success. */
export function ApiRoute({
  id,
  tag,
  summary,
  description,
  body,
  scopes,
  responses,
}: RouteDescription): MethodDecorator {
  return applyDecorators(
    HttpCode(Math.min(...Object.keys(responses).map(Number))),
    ApiIncludeEndpoint(),
    ...(tag ? [ApiTags(tag)] : []),
    ApiOperation({ operationId: id, summary, ...(description ? { description } : {}) }),
    ...(body ? [ApiBody({ type: body })] : []),
    ...(scopes ? [SetMetadata(SCOPES_KEY, scopes), ApiExtension('x-scopes', [...scopes])] : []),
    ...Object.entries(responses).map(([status, described]) =>
      ApiResponse({ status: Number(status), ...toResponse(Number(status), described) }),
    ),
  );
}

function toResponse(status: number, described: Described): object {
  if (typeof described !== 'string') return { type: described[0], description: described[1] };
  if (status < 400) return { description: described };
  return { ...problemResponse(described), ...(status === 429 || status === 503 ? retried : {}) };
}

export function problemResponse(description: string): object {
  const schema = { $ref: '#/components/schemas/Problem' };
  return { description, content: { 'application/problem+json': { schema } } };
}

const retried = { headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } };

export const sharedHeaders = {
  'Request-Id': {
    description: 'Identifies this request; quote it when you ask for support.',
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
    description: 'The response was sent before, to an earlier request with this Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
  ETag: {
    description: 'The revision of the resource, for If-Match.',
    schema: { type: 'string', pattern: '^"[0-9]+"$' },
  },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'string', pattern: '^[0-9]+$' } },
};

export const sharedResponses = {
  BadRequest: problemResponse('The URL, the query, the JSON or the Idempotency-Key is malformed.'),
  Conflict: problemResponse(
    'A request with this Idempotency-Key is in flight, or the transition is not allowed.',
  ),
  TooLarge: problemResponse('The body has 1048576 bytes or more.'),
  UnsupportedMediaType: problemResponse('The body is not called application/json.'),
  HeadersTooLarge: problemResponse('URL and headers have more than 16 KiB.'),
  Invalid: problemResponse('A field is at fault, or the Idempotency-Key was used for another request.'),
  TooManyRequests: { ...problemResponse('The rate limit is exceeded.'), ...retried },
  Unexpected: problemResponse('Something went wrong inside.'),
  Unavailable: { ...problemResponse('Something the service needs is unavailable; try again.'), ...retried },
};

export const sharedParameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'A uuid in quotes (RFC 9651 string): requests repeated with the same key are executed only once.',
    schema: { type: 'string', pattern: '^"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"$' },
  },
};

/** The common members of problem details (contract.md 3). */
export class ProblemDetails {
  @ApiProperty({ const: 'about:blank' }) type!: string;
  @ApiProperty({ type: 'string', minLength: 1 }) detail!: string;
  @ApiProperty({ type: 'null' }) instance!: null;

  @ApiProperty({
    type: 'object',
    description: 'On 422: field name to messages.',
    additionalProperties: { type: 'array', items: { type: 'string' }, minItems: 1 },
  })
  errors!: Record<string, string[]>;
}

export class Problem extends ProblemDetails {
  @ApiProperty({ type: 'string', minLength: 1 }) title!: string;
  @ApiProperty({ type: 'integer', minimum: 400, maximum: 599 }) status!: number;
}
