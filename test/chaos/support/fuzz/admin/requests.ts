import fc, { type Arbitrary } from 'fast-check';
import { damaged, hostileJson, hostileText, mostly, spoilt } from '../hostile.js';
import { body, headers, key, METHODS, percent, query, segment, typed, type FuzzedRequest } from '../parts.js';
import type { FuzzCaller } from './callers.js';
import type { Schema, ScopedEndpoint } from './endpoints.js';
import { customerOf } from './merchants.js';
import type { AdminWorld } from './world.js';

/** A request to a route, with the caller's permissions by the contract. */
export interface ScopedRequest extends FuzzedRequest {
  /** The route; null for an unknown path. */
  readonly endpoint: ScopedEndpoint | null;
  readonly caller: FuzzCaller;
}

/** A placeholder until sending: an id of a recent response, with the last ETag of its resource. */
export const LATELY = /~([a-z_]+)\.([0-9]+)~/;
export const ETAG = '~etag~';
const USUAL_WEIGHT = 16;

const lately = (resource: string): Arbitrary<string> => fc.nat(63).map((n) => `~${resource}.${n}~`);
/** Seven of a hundred callers are strangers, and sixty have access to the route. */
function someone(
  { callers, strangers }: AdminWorld,
  { port, scopes }: ScopedEndpoint,
): Arbitrary<FuzzCaller> {
  const may = callers[port].filter((each) => scopes.every((scope) => each.scopes!.has(scope)));
  return fc.oneof(
    { weight: may.length > 0 ? 60 : 0, arbitrary: fc.constantFrom(...(may.length > 0 ? may : strangers)) },
    { weight: 33, arbitrary: fc.constantFrom(...callers[port]) },
    { weight: 7, arbitrary: fc.constantFrom(...strangers) },
  );
}

/** Values of a world, by names of parameters and members. */
class Values {
  readonly ids: Arbitrary<string>;
  private readonly all: readonly string[];

  constructor(private readonly world: AdminWorld) {
    const { merchants, operators } = world;
    this.all = [...merchants.flatMap(({ ids }) => Object.values(ids).flat()), ...operators];
    this.ids = fc.constantFrom(...this.all);
  }

  idOf(resource: string): Arbitrary<string> {
    const own =
      resource === 'operators' ? this.world.operators : this.ofMerchants(({ ids }) => ids[resource]);
    const known = own.length === 0 ? this.ids : fc.constantFrom(...own);
    return fc.oneof(
      { weight: 12, arbitrary: known },
      { weight: 4, arbitrary: lately(resource) },
      { weight: 2, arbitrary: this.ids },
      { weight: 2, arbitrary: segment(this.all) },
    );
  }

  /** A value that roughly matches the schema. */
  of(name: string, schema: Schema): Arbitrary<unknown> {
    const { components } = this.world.document;
    if (schema.$ref !== undefined) return this.of(name, components.schemas[schema.$ref.split('/').at(-1)!]!);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    const own = this.named(name);
    if (own !== null) return own;
    const types = [schema.type ?? 'string'].flat();
    if (types.includes('null'))
      return mostly(3, this.of(name, { ...schema, type: types[0]! }), fc.constant(null));
    switch (types[0]) {
      case 'object':
        return this.object(schema);
      case 'array':
        return fc.array(this.of(name.replace(/s$/, ''), schema.items ?? {}), { maxLength: 3 });
      case 'integer':
        return fc.constantFrom(schema.minimum ?? 0, 1, 60, 3600, 1_000_000);
      case 'boolean':
        return fc.boolean();
      default:
        return this.text(schema);
    }
  }

  private object({ properties = {}, required = [] }: Schema): Arbitrary<unknown> {
    const members = Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [name, this.of(name, each)]),
    );
    return fc.record(members, { requiredKeys: [...required] });
  }

  private text({ format, pattern, examples, anyOf }: Schema): Arbitrary<unknown> {
    const kind = format ?? anyOf?.[0]?.format;
    if (kind === 'date') return fc.constantFrom('2026-01-31', '2030-12-31');
    if (kind === 'date-time') return fc.constantFrom('2026-01-31T12:00:00Z', '2030-12-31T00:00:00Z');
    if (kind === 'uuid') return this.ids;
    if (kind === 'email') return fc.uuid().map((id) => `${id}@ops.example`);
    if (pattern?.includes('40') === true) return fc.constant(`0x${'1'.repeat(40)}`);
    if (pattern !== undefined) return fc.constantFrom('1', '0.000001', '100.5');
    return examples === undefined ? fc.constantFrom('fuzz', 'a', 'fuzz again') : fc.constantFrom(...examples);
  }

  /** A value by the name alone. */
  private named(name: string): Arbitrary<unknown> | null {
    const { document, merchants, operators } = this.world;
    const found = this.ofMerchants((each) => each.found[name]);
    if (found.length > 0) return fc.constantFrom(...found);
    if (name === 'reason') return fc.constantFrom('fuzz', 'a fuzzed reason');
    if (name === 'q')
      return fc.oneof(
        fc.constantFrom(...this.ofMerchants((each) => Object.values(each.found).flat())),
        this.ids,
      );
    if (name === 'merchant_id' || name === 'merchant')
      return fc.constantFrom(...merchants.map(({ id }) => id));
    if (name === 'operator_id') return fc.constantFrom(...operators);
    if (name === 'token') return fc.constantFrom(...merchants.flatMap(({ tokens }) => tokens));
    if (name === 'scope')
      return fc.constantFrom(
        ...Object.values(document.paths).flatMap((each) => each['get']?.['x-scopes'] ?? []),
      );
    if (name === 'addresse' || name === 'ip_allow_list')
      return fc.constantFrom('10.0.0.0/8', '127.0.0.1', '::/0');
    if (name === 'origin' || name === 'callback')
      return fc.constantFrom('https://shop.example', 'http://127.0.0.1:9');
    if (name === 'url') return fc.constant('https://leaks.example/1');
    if (name === 'path') return fc.constantFrom('/merchants/v1/payouts', '/v1', '/');
    if (name === 'user_external_id')
      return fc.constantFrom(...merchants.map(({ mark }) => `${mark}-customer`));
    if (name === 'user_id')
      return fc.constantFrom(
        ...this.ofMerchants(({ ids, mark }) => [...(ids['users'] ?? []), customerOf(mark)]),
      );
    const resource = `${name.replace(/^endpoint/, 'webhook_endpoint').replace(/_id$/, '')}s`;
    return name.endsWith('_id') ? this.idOf(resource) : null;
  }

  private ofMerchants(
    part: (each: AdminWorld['merchants'][number]) => readonly string[] | undefined,
  ): string[] {
    return this.world.merchants.flatMap((each) => part(each) ?? []);
  }
}

export function scopedRequests(world: AdminWorld): Arbitrary<ScopedRequest> {
  const values = new Values(world);
  const own = {
    admin: fc.oneof(...routesOf(world, values, 'admin')),
    portal: fc.oneof(...routesOf(world, values, 'portal')),
  };
  return fc.oneof(
    { weight: 80, arbitrary: own.admin },
    { weight: 17, arbitrary: own.portal },
    { weight: 3, arbitrary: pageRequest(world) },
  );
}

function routesOf(
  world: AdminWorld,
  values: Values,
  port: ScopedEndpoint['port'],
): { weight: number; arbitrary: Arbitrary<ScopedRequest> }[] {
  return world.endpoints
    .filter((each) => each.port === port)
    .map((each) => ({
      weight: stopsMerchants(each) ? 1 : USUAL_WEIGHT,
      arbitrary: routeRequest(world, values, each),
    }));
}

/** Other requests of a suspended, confined or limited merchant rarely succeed. */
const stopsMerchants = ({ method, path }: ScopedEndpoint): boolean =>
  path === '/admin/v1/merchants/{id}/suspend' || (method === 'PATCH' && path === '/admin/v1/merchants/{id}');

/** Requests without writes. The effect of broken HTTP is unknown, and anybody may issue an own admin key. */
export function harmlessRequests(world: AdminWorld): Arbitrary<ScopedRequest> {
  const callers = Object.fromEntries(
    Object.entries(world.callers).map(([port, all]) => [
      port,
      all.filter((each) => ![...each.scopes!].some(writes)),
    ]),
  ) as unknown as AdminWorld['callers'];
  const endpoints = world.endpoints.filter(({ method, scopes }) => method === 'GET' || scopes.length > 0);
  return scopedRequests({ ...world, callers, endpoints });
}

const writes = (scope: string): boolean => scope.endsWith(':write');

function routeRequest(world: AdminWorld, values: Values, endpoint: ScopedEndpoint): Arbitrary<ScopedRequest> {
  const { port, method, path } = endpoint;
  const odd = fc.constantFrom(`${path}/`, `${path};a=b`, path.toUpperCase(), path.replaceAll('s', '%73'));
  const names = fc.constantFrom('users.views', 'order.views', 'payout.refunded.v9', 'Payouts', '..');
  const id = path.includes('{id}') ? values.idOf(endpoint.resource) : names;
  const target = fc
    .tuple(mostly(40, fc.constant(path), odd), id, queryOf(values, endpoint))
    .map(([each, given, text]) => each.replace(/\{[^}]+\}/, () => given) + text);
  const ifMatch = fc.oneof(
    { weight: 8, arbitrary: fc.constant(ETAG) },
    { weight: 1, arbitrary: fc.nat(9).map((n) => `"${n}"`) },
    { weight: 1, arbitrary: fc.constantFrom(null, '', '*', 'W/"1"', '"x"', '1', `"${'9'.repeat(400)}"`) },
  );
  return fc
    .tuple(
      mostly(30, fc.constant(method), METHODS),
      someone(world, endpoint),
      target,
      bodyOf(values, endpoint),
      mostly(3, fc.constant({}), headers),
      endpoint.takesIfMatch ? ifMatch : mostly(20, fc.constant(null), ifMatch),
      mostly(4, fc.constant(null), key),
    )
    .chain(([used, caller, at, bytes, more, match, idempotencyKey]) => {
      const sent = used === 'TRACE' ? null : bytes;
      return typed(sent).map((type) => ({
        port,
        method: used,
        path: at,
        body: sent,
        headers: {
          ...type,
          ...caller.headers,
          ...more,
          ...(match !== null && { 'if-match': match }),
          ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
        },
        endpoint,
        caller,
      }));
    });
}

function queryOf(values: Values, { query: known, method }: ScopedEndpoint): Arbitrary<string> {
  const names = Object.keys(known);
  const hostile = query(names);
  const isList = names.includes('page_size');
  if (names.length === 0 || method !== 'GET') return mostly(30, fc.constant(''), hostile);
  const pair = fc.constantFrom(...names).chain((name) => {
    if (name === 'page_size') return fc.constantFrom(1, 2, 5, 20).map((size) => `page_size=${size}`);
    if (name === 'page_cursor') return lately('cursors').map((text) => `page_cursor=${text}`);
    const value = mostly(12, values.of(name, known[name]!), hostileText);
    return value.map((each) => {
      const text = String(each);
      return `${name}=${LATELY.test(text) ? text : /^[\w.-]*$/.test(text) ? text : percent(text)}`;
    });
  });
  const usual = fc
    .uniqueArray(pair, { maxLength: 3, selector: (each) => each.split('=')[0] })
    // Long pages cost time and add nothing.
    .map((pairs) =>
      isList && !pairs.some((each) => each.startsWith('page_size')) ? ['page_size=5', ...pairs] : pairs,
    )
    .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`));
  return mostly(6, usual, hostile);
}

/** The members of each kind of credential. */
const OF_KIND: Readonly<Record<string, readonly string[]>> = {
  payouts: ['merchant_id'],
  exchange: ['merchant_id', 'demands_signing', 'memo_signing'],
  admin: ['scopes', 'merchants'],
};

function fitting(value: unknown): unknown {
  const own = OF_KIND[String((value as { readonly kind?: unknown }).kind)];
  if (own === undefined) return value;
  const others = Object.values(OF_KIND).flat().concat('operator_id', 'addresses', 'withdraw_addresses');
  const members = Object.entries(value as object) as [string, unknown][];
  return Object.fromEntries(members.filter(([name]) => own.includes(name) || !others.includes(name)));
}

function bodyOf(values: Values, { method, body: schema }: ScopedEndpoint): Arbitrary<Buffer | null> {
  if (schema === null)
    return method === 'GET' ? body({}, method) : mostly(10, fc.constant(null), body({}, method));
  const valid = values.of('', schema).map(fitting);
  const sound = valid.map((value) => Buffer.from(JSON.stringify(value)));
  const harmed = valid.chain((value) => fc.oneof(...[30, 6].map((soundness) => spoilt(value, soundness))));
  return fc.oneof(
    { weight: 12, arbitrary: sound },
    { weight: 4, arbitrary: harmed.map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: sound.chain((bytes) => damaged(bytes, 1)) },
    { weight: 1, arbitrary: hostileJson.map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.constantFrom(null, Buffer.alloc(0)) },
  );
}

const PAGES: Readonly<Record<ScopedEndpoint['port'], string>> = {
  admin:
    'GET / GET /session GET /payouts/x GET /login/oidc GET /login/oidc/callback POST /login/link POST /login/passkey/options POST /login/passkey POST /enrol POST /enrol/options POST /logout GET /console GET /admin/v1 GET /admin/v1/x GET /merchants/v1/users GET /health/ready',
  portal:
    'GET / GET /enter POST /session POST /logout GET /portal GET /api/v1 GET /api/v1/x GET /admin/v1/users GET /merchants/v1/users',
};

/** Other paths of the listeners, called by strangers, because a logout would end a caller's session. */
function pageRequest(world: AdminWorld): Arbitrary<ScopedRequest> {
  const routes = Object.entries(PAGES).flatMap(([port, text]) => {
    const words = text.split(' ');
    return words.flatMap((method, n) =>
      n % 2 === 0 ? [{ port: port as ScopedEndpoint['port'], method, path: words[n + 1]! }] : [],
    );
  });
  const token = { token: 'A'.repeat(43), code: 'A'.repeat(64), response: { id: 'x' } };
  return fc
    .tuple(
      fc.constantFrom(...routes),
      mostly(9, fc.constant(null), METHODS),
      fc.constantFrom(...world.strangers),
      query(['token', 'code', 'state', 'return_to']),
      body(token, 'POST'),
      headers,
    )
    .chain(([route, other, caller, text, bytes, more]) => {
      const method = other ?? route.method;
      const sent = ['GET', 'HEAD', 'TRACE'].includes(method) ? null : bytes;
      const origin =
        route.port === 'portal' ? world.callers.portal[0]!.headers['origin']! : world.keepers.first.baseUrl;
      return typed(sent).map((type) => ({
        port: route.port,
        method,
        path: route.path + text,
        headers: { ...type, origin, ...caller.headers, ...more },
        body: sent,
        endpoint: null,
        caller,
      }));
    });
}
