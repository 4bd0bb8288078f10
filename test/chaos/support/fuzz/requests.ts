import { createHmac } from 'node:crypto';
import fc, { type Arbitrary } from 'fast-check';
import { damaged, hostileJson, hostileText, mostly, spoilt } from './hostile.js';
import { validBody, type Endpoint, type World } from './world.js';

/** A request that is valid HTTP with any contents. */
export interface FuzzedRequest {
  readonly port: 'api' | 'widget';
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

const METHODS = fc.constantFrom(
  ...'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND QUERY LINK'.split(' '),
);
const CONTENT_TYPES = fc.constantFrom(
  ...'application/json;charset=utf-16|APPLICATION/JSON|text/plain|multipart/form-data; boundary=x|*/*|;|'.split(
    '|',
  ),
  'application/json, application/json',
  'a'.repeat(2000),
);
/** Headers that a proxy or a framework may use, and some that the service reads. */
const OTHER_HEADERS: readonly (readonly [string, string])[] = [
  ['accept', 'text/html'],
  ['accept', 'application/json;q=0,,;;'],
  ['content-encoding', 'gzip'],
  ['content-encoding', 'x'],
  ['x-forwarded-for', '1.2.3.4, ::1, unknown'],
  ['x-forwarded-host', '['],
  ['forwarded', 'for="[::1]:x";proto=\u00ff'],
  ['x-http-method-override', 'DELETE'],
  ['range', 'bytes=0-,9-1'],
  ['traceparent', '00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-ff'],
  ['tracestate', 'a=b,'.repeat(500)],
  ['cookie', '__proto__=1; ;=;'],
  ['origin', 'null'],
  ['if-none-match', '*'],
  ['request-id', 'x"{}'],
];
const headers = mostly(
  4,
  fc.constant({}),
  fc.constantFrom(...OTHER_HEADERS).map(([name, value]) => ({ [name]: value })),
) as Arbitrary<Record<string, string>>;
/** A fresh one, one of a few that are used again, or an invalid one. */
const key = fc.oneof(
  fc.uuid().map((id) => `"${id}"`),
  fc.nat(9).map((n) => `"5eed0000-0000-4000-8000-00000000000${n}"`),
  fc.constantFrom('', '""', '"', 'x', '"no-uuid"', '"\u00e9"', '(a b)', `"${'a'.repeat(4000)}"`),
);
const ODD_SEGMENTS = [
  ...'%00 %2e%2e .. . % %zz %2f%2f %ff %c0%af'.split(' '),
  'x'.repeat(9000),
  '\u00e9\u00ff',
];
const ODD_PAIRS = [
  ...'__proto__=1 a[b][c]=d page_size[]=1 page_size = &&& ? % %zz=%zz %00 ; %23'.split(' '),
  ...['a'.repeat(8000), 'a&'.repeat(2000), '\u00ff=\u00ff'],
];
const VALUES =
  '1 20 1000 pending received 2026-01-01T00:00:00Z https://shop.example/done -1 0 1e3 99999999999999999999 1.5';
const STEPS = ['code', 'phone', 'details', 'identity', 'state', 'inbox', '__proto__', 'constructor', 'x'];

const percent = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

function query(names: readonly string[]): Arbitrary<string> {
  const value = fc.oneof(
    fc.constantFrom(...VALUES.split(' ')),
    hostileText.map(percent),
    // Cursors are base64url of something.
    hostileJson.map((text) => Buffer.from(text).toString('base64url').slice(0, 6000)),
  );
  const pair = fc.tuple(fc.constantFrom(...names, 'x'), value).map((each) => each.join('='));
  return fc
    .array(mostly(5, pair, fc.constantFrom(...ODD_PAIRS)), { maxLength: 4 })
    .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`));
}

/** In place of an id: one that exists, one that does not, or anything. */
function segment({ ids }: World): Arbitrary<string> {
  const known = fc.constantFrom(...ids);
  const odd = fc.oneof(
    fc.constantFrom(...ODD_SEGMENTS),
    hostileText.map((text) => percent(text) || '-'),
  );
  return mostly(
    5,
    known,
    fc.oneof(
      fc.uuid(),
      known.map((id) => id.toUpperCase()),
      odd,
    ),
  );
}

function body(valid: unknown, method: string): Arbitrary<Buffer | null> {
  if (method === 'TRACE') return fc.constant(null);
  const any = hostileJson.map((text) => Buffer.from(text));
  if (method === 'GET' || method === 'HEAD') return mostly(30, fc.constant(null), any);
  const sound = fc.oneof(...[1000, 30, 6].map((soundness) => spoilt(valid, soundness)));
  const bytes = sound.chain((text) => damaged(Buffer.from(text), 15));
  return mostly(30, bytes, fc.constantFrom(null, Buffer.alloc(0)));
}

const typed = (bytes: Buffer | null): Arbitrary<Record<string, string>> =>
  bytes === null
    ? fc.constant({})
    : mostly(20, fc.constant('application/json'), CONTENT_TYPES).map((type) => ({ 'content-type': type }));

/** Requests that undici can send: hostile in what they say, not in how they say it. */
export function apiRequest(world: World): Arbitrary<FuzzedRequest> {
  return fc.constantFrom(...world.endpoints).chain((endpoint) => requestOf(endpoint, world));
}

function requestOf({ method, path, query: names }: Endpoint, world: World): Arbitrary<FuzzedRequest> {
  const odd = fc.constantFrom(`${path}/`, `${path};a=b`, path.toUpperCase(), path.replaceAll('s', '%73'));
  const target = fc
    .tuple(mostly(25, fc.constant(path), odd), segment(world), query(names))
    .map(([each, id, text]) => each.replace('{id}', () => id) + text);
  return fc
    .tuple(mostly(14, fc.constant(method), METHODS), fc.constantFrom(...world.ids))
    .chain(([used, id]) => fc.tuple(fc.constant(used), body(validBody(method, path, id), used)))
    .chain(([used, bytes]) =>
      fc
        .tuple(target, typed(bytes), headers, fc.option(key), fc.option(wrongSignature, { freq: 9 }))
        .map(([at, type, more, idempotencyKey, forge]) => ({
          port: 'api' as const,
          method: used,
          path: at,
          body: bytes,
          headers: {
            ...type,
            ...more,
            ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
            ...signature(world, used, at, bytes, forge),
          },
        })),
    );
}

export function widgetRequest(world: World): Arbitrary<FuzzedRequest> {
  const { merchant, users } = world;
  const ids = fc.tuple(
    mostly(9, fc.constant(merchant.apiKey), segment(world)),
    mostly(3, fc.constantFrom(...users), segment(world)),
  );
  const page = fc
    .tuple(
      ids,
      query(['callback_url', 'merchant_id', 'user_id']),
      mostly(9, fc.constant('GET'), METHODS),
      headers,
    )
    .map(([[shop, user], more, method, given]) => {
      const path = `/onboarding?merchant_id=${shop}&user_id=${user}&${more.slice(1)}`;
      return { port: 'widget' as const, method, path, headers: given, body: null };
    });
  const person = {
    phone_number: '+491511234567',
    code: '123456',
    first_name: 'Ada',
    last_name: 'Lovelace',
    date_of_birth: '1985-12-10',
  };
  const bearer = fc.constantFrom('', 'Bearer ', 'Basic x', `Bearer ${'.'.repeat(3000)}`);
  const method = mostly(19, fc.constant('POST'), METHODS);
  const step = fc
    .tuple(ids, fc.constantFrom(...STEPS), body(person, 'POST'), headers, bearer, method)
    .chain(([[shop, user], name, bytes, given, authorization, used]) =>
      typed(bytes).map((type) => ({
        port: 'widget' as const,
        method: used,
        path: `/onboarding/${shop}/${user}/${name}`,
        headers: { ...type, ...given, authorization },
        body: bytes,
      })),
    );
  return mostly<FuzzedRequest>(2, step, page);
}

/** In ways that do not lock the merchant out. */
type Forge = (valid: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
const stranger = { 'svc-api-key': '00000000-0000-4000-8000-000000000000' };
const wrongSignature = fc.constantFrom<Forge[]>(
  () => ({}),
  (valid) => ({ 'svc-api-key': valid['svc-api-key']! }),
  (valid) => ({ ...valid, 'svc-api-key': "' or 1=1" }),
  (valid) => ({ ...valid, 'svc-timestamp': '9'.repeat(50) }),
  (valid) => ({ ...valid, ...stranger, 'svc-signature': 'x' }),
  (valid) => ({ ...valid, ...stranger, 'svc-signature': 'f'.repeat(5000) }),
);

function signature(
  { merchant }: World,
  method: string,
  target: string,
  bytes: Buffer | null,
  forge: Forge | null,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signed = createHmac('sha256', merchant.privateKey)
    .update(`${timestamp}\n${method}\n${target.split('?')[0]!}\n`, 'utf8')
    .update(bytes ?? '')
    .digest('hex');
  const valid = { 'svc-api-key': merchant.apiKey, 'svc-timestamp': timestamp, 'svc-signature': signed };
  return forge?.(valid) ?? valid;
}
