import { BODY, EDGE_SCHEME, type ApiScheme } from '../../../../platform/openapi/document.js';
import { problemResponse } from '../../../../platform/openapi/route.js';

const EVERY = {
  401: 'OperatorUnauthorized',
  403: 'OperatorForbidden',
  404: 'OutOfReach',
  503: 'Unavailable',
};
const WRITE = {
  ...BODY,
  409: 'Conflict',
  412: 'PreconditionFailed',
  422: 'Invalid',
  428: 'PreconditionRequired',
};

/** The admin API (admin-api.md 1): a key of a person, and writes done once per Idempotency-Key. */
export const adminScheme: ApiScheme = {
  ...EDGE_SCHEME,
  prefix: '/admin/v1/',
  models: [],
  readHeaders: ['ETag'],
  responsesOf: (method) => (method === 'get' ? EVERY : { ...EVERY, ...WRITE }),
  responses: {
    OperatorUnauthorized: {
      ...problemResponse(
        'The key is missing, malformed, unknown, expired, revoked or not yet approved, or its person is disabled.',
      ),
      headers: { 'WWW-Authenticate': { schema: { type: 'string', const: 'Bearer' } } },
    },
    OperatorForbidden: problemResponse(
      'A scope is missing, which the detail names, or the address is outside the network ranges of the key.',
    ),
    OutOfReach: problemResponse(
      'It does not exist, or belongs to a merchant that the key is not confined to.',
    ),
    PreconditionFailed: problemResponse('It was changed since the revision in If-Match was read.'),
    PreconditionRequired: problemResponse('If-Match is missing.'),
  },
  securitySchemes: {
    adminKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'An admin key, `dsb_<live|test>_admin_...`; the scopes it needs are `x-scopes`.',
    },
  },
};
