import { BODY, EDGE_SCHEME, type ApiScheme } from '../../../platform/openapi/document.js';
import { problemResponse } from '../../../platform/openapi/route.js';

const EVERY = { ...BODY, 400: 'BadQuery', 401: 'InvalidKey', 403: 'KeyForbidden', 503: 'Unavailable' };
const WRITE = { 409: 'Conflict', 422: 'Invalid' };

/** The exchange API (contract.md 21): everything is in the query. */
export const exchangeScheme: ApiScheme = {
  ...EDGE_SCHEME,
  prefix: '/v1/',
  models: [],
  responsesOf: (method) => (method === 'get' ? EVERY : { ...EVERY, ...WRITE }),
  responses: {
    BadQuery: problemResponse('A parameter is repeated, or the Idempotency-Key is malformed.'),
    InvalidKey: problemResponse('The key is missing or unknown, or a signature is missing or wrong.'),
    KeyForbidden: problemResponse(
      'The merchant is suspended, or the key is used from an address that it is not bound to.',
    ),
  },
  securitySchemes: {
    exchangeKey: {
      type: 'apiKey',
      in: 'query',
      name: 'api_key',
      description: 'A key of the exchange, a uuid. Keys that demand signatures take `signature` too.',
    },
  },
};

/** Its list names the key in a header, and is always signed. */
export const exchangeListScheme: ApiScheme = {
  ...exchangeScheme,
  prefix: '/v1/merchant/',
  securitySchemes: {
    exchangeKeyHeader: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Api-Key',
      description: 'A key of the exchange, a uuid.',
    },
    exchangeSignature: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Signature',
      description:
        'Lower-case hex HMAC-SHA256 of `withdraw_address=` with nothing after it, with any filters.',
    },
  },
};
