import { ApiProperty } from '../../../platform/dto/field.js';
import { BODY, EDGE_SCHEME, type ApiScheme } from '../../../platform/openapi/document.js';
import { ProblemDetails, problemResponse } from '../../../platform/openapi/route.js';

class SignatureProblem extends ProblemDetails {
  @ApiProperty({ const: 'Invalid request signature' }) title!: string;
  @ApiProperty({ const: 401 }) status!: number;

  @ApiProperty({
    type: 'array',
    description: 'The bytes that the server signed; only when the signature did not match.',
    items: { type: 'integer', minimum: 0, maximum: 255 },
    required: false,
  })
  string_to_sign_bytes?: number[];
}

const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description });
const EVERY = { ...BODY, 401: 'Unauthorized', 403: 'Forbidden', 503: 'Unavailable' };
const WITH_BODY = { 409: 'Conflict', 422: 'Invalid' };

/** The merchant API: signed by the merchant's key, writes done once per Idempotency-Key. */
export const merchantScheme: ApiScheme = {
  ...EDGE_SCHEME,
  prefix: '/merchants/v1/',
  models: [SignatureProblem],
  responsesOf: (method) => (method === 'get' ? EVERY : { ...EVERY, ...WITH_BODY }),
  responses: {
    Unauthorized: {
      description:
        'A signing header is missing, the api key is unknown, the time is off, or the signature differs.',
      content: {
        'application/problem+json': { schema: { $ref: '#/components/schemas/SignatureProblem' } },
        'text/plain': { schema: { type: 'string' } },
      },
    },
    Forbidden: problemResponse('The merchant is suspended, or calls from an address outside its allow-list.'),
  },
  securitySchemes: {
    apiKey: header('svc-api-key', 'The public id of the merchant, a uuid.'),
    timestamp: header('svc-timestamp', 'Unix seconds, within 5 minutes of server time.'),
    signature: header('svc-signature', 'Lower-case hex HMAC-SHA256; see above.'),
  },
};
