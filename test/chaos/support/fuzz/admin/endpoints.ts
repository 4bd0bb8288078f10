export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly examples?: readonly unknown[];
}

/** A route of the admin API or of the portal. */
export interface ScopedEndpoint {
  readonly port: 'admin' | 'portal';
  readonly method: string;
  /** The path with its prefix, and `{id}` in place of an id. */
  readonly path: string;
  /** The resource of the id, such as `users`. */
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly query: Readonly<Record<string, Schema>>;
  readonly body: Schema | null;
  readonly takesIfMatch: boolean;
}

interface Parameter {
  readonly in?: string;
  readonly name?: string;
  readonly schema?: Schema;
}

export interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Record<
        string,
        {
          readonly parameters?: readonly Parameter[];
          readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
          readonly 'x-scopes'?: readonly string[];
        }
      >
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Returns the operations of the document below a path. */
export function endpointsOf({ paths }: Document, prefix: string): readonly ScopedEndpoint[] {
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(prefix))
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(
        ([method, { parameters = [], requestBody, 'x-scopes': scopes = [] }]) => ({
          port: 'admin' as const,
          method: method.toUpperCase(),
          path,
          resource: path.slice(prefix.length).split('/')[0]!,
          scopes,
          query: Object.fromEntries(
            parameters.flatMap(({ in: place, name, schema = {} }) =>
              place === 'query' ? [[name!, schema]] : [],
            ),
          ) as Record<string, Schema>,
          body: requestBody?.content['application/json']?.schema ?? null,
          takesIfMatch: parameters.some(({ name }) => name === 'If-Match'),
        }),
      ),
    );
}

/** The portal's routes, missing in the document: method, path, scope, resource if the path lacks it. */
const PORTAL = `
  GET me
  GET keys keys:read
  POST keys keys:write
  POST keys/{id}/revoke keys:write credentials
  GET endpoints endpoints:read
  GET endpoints/{id} endpoints:read webhook_endpoints
  POST endpoints/{id}/test endpoints:write webhook_endpoints
  POST endpoints/{id}/rotate_secret endpoints:write webhook_endpoints
  POST endpoints/{id}/recover endpoints:write webhook_endpoints
  GET deliveries deliveries:read
  GET deliveries/{id} deliveries:read
  POST deliveries/{id}/resend deliveries:write
  GET events events:read
  GET payouts payouts:read
  GET payouts/{id} payouts:read
  GET payouts/{id}/evidence payouts:read
  GET payouts/{id}/proof payouts:read
  GET orders orders:read
  GET orders/{id} orders:read
  GET requests requests:read
  GET usage usage:read
  GET lookups`;
const PAGE = ['page_size', 'page_cursor'];
const PORTAL_QUERY: Readonly<Record<string, readonly string[]>> = {
  keys: [...PAGE, 'kind', 'status'],
  deliveries: [...PAGE, 'endpoint_id', 'status', 'type', 'from', 'to'],
  events: [...PAGE, 'user_id', 'user_external_id', 'event_name', 'event_from', 'event_to'],
  payouts: [...PAGE, 'user_id', 'status', 'created_from', 'created_to'],
  orders: [...PAGE, 'user_id', 'status', 'refundable'],
  requests: [...PAGE, 'status', 'path', 'request_id'],
  lookups: PAGE,
};
const PORTAL_VALUES: Readonly<Record<string, Schema>> = {
  kind: { enum: ['payouts', 'exchange'] },
  status: { enum: ['active', 'pending', 'received', 'completed', 'succeeded', '200', '404'] },
  type: { enum: ['payout.received', 'webhook_endpoint.test'] },
  refundable: { enum: ['true', 'false'] },
  ...Object.fromEntries(
    ['from', 'to', 'event_from', 'event_to', 'created_from', 'created_to'].map((name) => [
      name,
      { format: 'date' },
    ]),
  ),
};
const PORTAL_BODY: Schema = {
  type: 'object',
  properties: {
    since: { type: 'string', format: 'date-time' },
    overlap_seconds: { type: 'integer', minimum: 0 },
    name: { type: 'string' },
  },
};

export function portalEndpoints(): readonly ScopedEndpoint[] {
  return PORTAL.trim()
    .split('\n')
    .map((line) => {
      const [method, path, scope, resource] = line.trim().split(' ');
      return {
        port: 'portal' as const,
        method: method!,
        path: `/api/v1/${path}`,
        resource: resource ?? path!.split('/')[0]!,
        scopes: scope === undefined ? [] : [scope],
        query: Object.fromEntries(names(method!, path!).map((name) => [name, PORTAL_VALUES[name] ?? {}])),
        body: method === 'GET' ? null : PORTAL_BODY,
        takesIfMatch: false,
      };
    });
}

const names = (method: string, path: string): readonly string[] =>
  method === 'GET' ? (PORTAL_QUERY[path] ?? []) : [];
