import type { OpenApiFragment } from './fragment.js';
import { signingGuide } from './guide.js';
import { sharedHeaders, sharedParameters, sharedResponses, sharedSchemas } from './shared.js';

const SIGNED_PREFIX = '/merchants/v1/';
const METHODS_WITH_KEY = new Set(['post', 'patch', 'put', 'delete']);

type Operation = Readonly<Record<string, unknown>>;
type Responses = Readonly<Record<string, object>>;

/** Pages that render the document show operations by tag, in this order; a tag without an operation is left out. */
const TAGS: Readonly<Record<string, string>> = {
  Users: 'The people who are paid.',
  Payouts: 'Transfers that were broadcast, reported and verified on the chain; balances are with the users.',
  'Webhook endpoints': 'Where the service tells what happened.',
  'Webhook deliveries': 'What became of each delivery, and how it is sent again.',
  Events: 'Server-side events of the merchant, and the journeys they make.',
  Sandbox: 'Short cuts that exist in the sandbox alone.',
  Documentation: 'This document.',
  Health: 'For load balancers and operators; not signed.',
};

function tagsOf(paths: Readonly<Record<string, Readonly<Record<string, object>>>>): object[] {
  const operations = Object.values(paths).flatMap((each) => Object.values(each) as Operation[]);
  const used = new Set(operations.flatMap(({ tags }) => (tags ?? []) as string[]));
  return Object.entries(TAGS)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
}

/** Paths in the order of the tags of their first operations; of one tag, short ones first. */
function byTag(paths: Readonly<Record<string, Readonly<Record<string, object>>>>): object {
  const place = ([path, operations]: [string, Readonly<Record<string, object>>]): number =>
    Object.keys(TAGS).indexOf(String((Object.values(operations)[0] as Operation)['tags'])) * 100 +
    path.split('/').length;
  return Object.fromEntries(Object.entries(paths).sort((one, other) => place(one) - place(other)));
}

/** What every signed operation may answer, unless its fragment says it in its own words. */
function commonResponses(method: string): Responses {
  const withBody = { 413: ref('responses', 'TooLarge'), 415: ref('responses', 'UnsupportedMediaType') };
  const withKey = {
    400: ref('responses', 'BadRequest'),
    409: ref('responses', 'Conflict'),
    422: ref('responses', 'Invalid'),
  };
  return {
    401: ref('responses', 'Unauthorized'),
    403: ref('responses', 'Forbidden'),
    429: ref('responses', 'TooManyRequests'),
    500: ref('responses', 'Unexpected'),
    503: ref('responses', 'Unavailable'),
    ...(METHODS_WITH_KEY.has(method) ? { ...withKey, ...withBody } : {}),
  };
}

function ref(kind: 'responses' | 'parameters' | 'headers', name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}

/** Headers that any answer carries, put on the answers a fragment describes itself. */
function withHeaders(response: object, signed: boolean): object {
  if ('$ref' in response) return response;
  const names = signed
    ? ['Request-Id', 'RateLimit', 'RateLimit-Policy', 'Idempotent-Replayed']
    : ['Request-Id'];
  const headers = Object.fromEntries(names.map((name) => [name, ref('headers', name)]));
  return {
    ...response,
    headers: { ...headers, ...('headers' in response ? (response.headers as object) : {}) },
  };
}

function completed(path: string, method: string, operation: Operation): Operation {
  const signed = path.startsWith(SIGNED_PREFIX);
  const own = (operation['responses'] ?? {}) as Responses;
  const responses = signed ? { ...commonResponses(method), ...own } : own;
  const described = Object.entries(responses).map(([status, each]) => [status, withHeaders(each, signed)]);
  const parameters = [
    ...((operation['parameters'] as object[] | undefined) ?? []),
    ...(signed && METHODS_WITH_KEY.has(method) ? [ref('parameters', 'IdempotencyKey')] : []),
  ];
  return {
    ...operation,
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: Object.fromEntries(described) as object,
    security: signed ? [{ apiKey: [], timestamp: [], signature: [] }] : [],
  };
}

/** The whole OpenAPI 3.1 document: the fragments, and around each operation what the edge does for all of them. */
export function assembleDocument(fragments: readonly OpenApiFragment[], serverUrl: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [path, operations] of fragments.flatMap(({ paths: own }) => Object.entries(own))) {
    const completedOnes = Object.entries(operations).map(([method, operation]) => [
      method,
      completed(path, method, operation as Operation),
    ]);
    paths[path] = { ...paths[path], ...Object.fromEntries(completedOnes) };
  }
  const schemas = Object.assign({}, sharedSchemas, ...fragments.map(({ schemas: own }) => own)) as object;
  const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description });
  return {
    openapi: '3.1.0',
    info: { title: 'disburse merchant API', version: '1', description: signingGuide(serverUrl) },
    servers: [{ url: serverUrl }],
    tags: tagsOf(paths),
    paths: byTag(paths),
    components: {
      schemas,
      responses: Object.fromEntries(
        Object.entries(sharedResponses).map(([name, each]) => [name, withHeaders(each, true)]),
      ),
      headers: sharedHeaders,
      parameters: sharedParameters,
      securitySchemes: {
        apiKey: header('svc-api-key', 'The public id of the merchant, a uuid.'),
        timestamp: header('svc-timestamp', 'Unix seconds, within 5 minutes of server time.'),
        signature: header('svc-signature', 'Lower-case hex HMAC-SHA256; see above.'),
      },
    },
  };
}
