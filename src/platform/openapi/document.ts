import type { INestApplication } from '@nestjs/common';
import { SwaggerModule } from '@nestjs/swagger';
import type { Dto } from '../dto/field.js';
import { TIME, UUID } from '../dto/rules.js';
import { Problem, sharedHeaders, sharedParameters, sharedResponses } from './route.js';

/** The authentication and the common responses of one API, under one prefix. */
export interface ApiScheme {
  readonly prefix: string;
  readonly models?: readonly Dto[];
  /** Further headers of a successful read. */
  readonly readHeaders?: readonly string[];
  /** Names of common responses by status. An operation's own response has precedence. */
  readonly statuses: Readonly<Record<number, string>>;
  readonly writeStatuses: Readonly<Record<number, string>>;
  /** Further responses, by name. */
  readonly responses: Readonly<Record<string, object>>;
  /** The security schemes, all of which a caller needs. */
  readonly securitySchemes: Readonly<Record<string, object>>;
}

/** The names of common responses by status, for every listener and for routes that parse a body. */
const LISTENER = { 400: 'BadRequest', 429: 'TooManyRequests', 431: 'HeadersTooLarge', 500: 'Unexpected' };
export const BODY = { 413: 'TooLarge', 415: 'UnsupportedMediaType' };

const API_HEADERS = ['Request-Id', 'RateLimit', 'RateLimit-Policy', 'Idempotent-Replayed'];

/** The part of the OpenAPI document that a context adds to its operations. */
export interface DocumentPart {
  /** Tags by name, with their place in the order of the document. */
  readonly tags?: Readonly<Record<string, readonly [place: number, description: string]>>;
  /** The schemes, with longer prefixes first. */
  readonly schemes?: readonly ApiScheme[];
  readonly webhooks?: readonly WebhookDescription[];
}

interface Parameter {
  readonly schema?: object;
  readonly examples?: unknown;
}

interface OperationObject {
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, object>>;
  readonly security?: readonly object[];
}
type Operations = Readonly<Record<string, OperationObject>>;

/** Creates the OpenAPI 3.1 document of the routes with `@ApiRoute`. */
export function createDocument(app: INestApplication, parts: readonly DocumentPart[]): object {
  const info = { title: 'disburse API', version: '1' };
  const tags = parts
    .flatMap((part) => Object.entries(part.tags ?? {}))
    .sort(([, [place]], [, [other]]) => place - other);
  const schemes = parts.flatMap((part) => part.schemes ?? []);
  const sentTypes = parts.flatMap((part) => part.webhooks ?? []);
  const models = [
    Problem,
    ...schemes.flatMap(({ models = [] }) => models),
    ...sentTypes.map(({ data }) => data),
  ];
  const generated = SwaggerModule.createDocument(
    app,
    { openapi: '3.1.0', info: { ...info } },
    { onlyIncludeDecoratedEndpoints: true, autoTagControllers: false, extraModels: models },
  );
  const paths = Object.entries<object>(generated.paths).map(([path, operations]) => {
    const scheme = schemes.find(({ prefix }) => path.startsWith(prefix));
    const completed = Object.entries(operations as Operations).map(([method, operation]) => [
      method,
      complete(operation, method, scheme),
    ]);
    return [path, Object.fromEntries(completed) as Operations] as const;
  });
  /** Returns the rank of a path: by the tag of its first operation, then by its number of segments. */
  const place = (path: string, operations: Operations): number =>
    tags.findIndex(([name]) => name === Object.values(operations)[0]?.tags?.[0]) * 100 +
    path.split('/').length;
  const webhooks = toWebhooks(sentTypes);
  const operations = [...paths, ...Object.entries(webhooks)].flatMap(([, each]) => Object.values(each));
  const used = new Set(operations.flatMap((one) => one.tags ?? []));
  const responses = [sharedResponses, ...schemes.map((each) => each.responses)]
    .flatMap((named) => Object.entries<object>(named))
    .map(([name, each]) => [name, withHeaders(each, API_HEADERS)]);
  return {
    openapi: '3.1.0',
    info,
    tags: tags.flatMap(([name, [, description]]) => (used.has(name) ? [{ name, description }] : [])),
    paths: Object.fromEntries(
      paths.sort(([one, a], [other, b]) => place(one, a) - place(other, b)),
    ) as object,
    webhooks,
    components: {
      schemas: generated.components?.schemas,
      responses: Object.fromEntries(responses) as object,
      headers: sharedHeaders,
      parameters: sharedParameters,
      securitySchemes: Object.assign({}, ...schemes.map((each) => each.securitySchemes)) as object,
    },
  };
}

function complete(
  operation: OperationObject,
  method: string,
  scheme: ApiScheme | undefined,
): OperationObject {
  const isWrite = method !== 'get';
  const statuses = { ...LISTENER, ...(scheme?.statuses ?? BODY), ...(isWrite && scheme?.writeStatuses) };
  const common = Object.entries(statuses).map(([status, name]) => [status, ref('responses', name)]);
  const responses: Record<string, object> = { ...Object.fromEntries(common), ...operation.responses };
  const headers = scheme === undefined ? ['Request-Id'] : API_HEADERS;
  const readHeaders = isWrite ? headers : [...headers, ...(scheme?.readHeaders ?? [])];
  const described = Object.entries(responses).map(([status, each]) => [
    status,
    withHeaders(each, Number(status) < 400 ? readHeaders : headers),
  ]);
  const own = (operation.parameters ?? []).map(withExamplesInSchema);
  const parameters = [
    ...own.filter(isInPath),
    ...own.filter((each) => !isInPath(each)),
    ...(scheme !== undefined && isWrite ? [ref('parameters', 'IdempotencyKey')] : []),
  ];
  return {
    ...operation,
    parameters: parameters.length > 0 ? parameters : undefined,
    responses: Object.fromEntries(described) as OperationObject['responses'],
    security: scheme
      ? [Object.fromEntries(Object.keys(scheme.securitySchemes).map((name) => [name, []]))]
      : [],
  };
}

/** Moves examples into the schema, because a parameter's own `examples` must be a map in OpenAPI. */
function withExamplesInSchema(parameter: Parameter): object {
  const { examples, schema, ...rest } = parameter;
  return examples === undefined ? parameter : { ...rest, schema: { ...schema, examples } };
}

function isInPath(parameter: { readonly in?: string }): boolean {
  return parameter.in === 'path';
}

function ref(kind: 'responses' | 'parameters' | 'headers', name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}

function withHeaders(response: object, names: readonly string[]): object {
  if ('$ref' in response) return response;
  const headers = Object.fromEntries(names.map((name) => [name, ref('headers', name)]));
  return {
    ...response,
    headers: { ...headers, ...('headers' in response ? (response.headers as object) : {}) },
  };
}

export interface WebhookDescription {
  readonly type: string;
  readonly when: string;
  readonly data: Dto;
}

const header = (name: string, description: string, schema: object): object => ({
  name,
  in: 'header',
  required: true,
  description,
  schema,
});

/** The headers of Standard Webhooks (contract.md 13.2). */
const HEADERS = [
  header('webhook-id', 'Of the delivery; the same for every attempt. Receive each once.', UUID),
  header('webhook-timestamp', 'Unix seconds of the attempt; refuse what is 5 minutes off.', {
    type: 'string',
    pattern: '^[0-9]+$',
  }),
  header(
    'webhook-signature',
    'Entries `v1,<base64>` separated by spaces, one per valid secret: HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the bytes that the base64 after `whsec_` encodes. One that matches is enough.',
    { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$' },
  ),
];

const RESPONSES = {
  '2XX': { description: 'Received.' },
  410: { description: 'The endpoint is gone: it is disabled.' },
  '4XX': { description: 'Not tried again, but for 408 and 429.' },
  default: { description: 'Tried again, ten times within three days.' },
};

function toWebhooks(types: readonly WebhookDescription[]): Readonly<Record<string, Operations>> {
  return Object.fromEntries(
    types.map(({ type, when, data }) => {
      const properties = {
        id: { ...UUID, description: 'As `webhook-id`.' },
        type: { const: type },
        occurred_at: TIME,
        merchant_id: UUID,
        data: { $ref: `#/components/schemas/${data.name}` },
      };
      const schema = { type: 'object', required: Object.keys(properties), properties };
      const post = {
        operationId: `on${type.replace(/(?:^|[._])(.)/g, (_, first: string) => first.toUpperCase())}`,
        tags: ['Webhooks'],
        summary: when,
        parameters: HEADERS,
        requestBody: { required: true, content: { 'application/json': { schema } } },
        responses: RESPONSES,
        security: [],
      };
      return [type, { post }];
    }),
  );
}
