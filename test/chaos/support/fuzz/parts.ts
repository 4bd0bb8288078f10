import fc, { type Arbitrary } from 'fast-check';
import { damaged, hostileJson, hostileText, mostly, spoilt } from './hostile.js';

/** A valid HTTP request with any contents. */
export interface FuzzedRequest {
  readonly port: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

export const METHODS = fc.constantFrom(
  ...'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND QUERY LINK'.split(' '),
);
const CONTENT_TYPES = fc.constantFrom(
  ...'application/json;charset=utf-16|APPLICATION/JSON|text/plain|multipart/form-data; boundary=x|*/*|;|'.split(
    '|',
  ),
  'application/json, application/json',
  'a'.repeat(2000),
);
/** Headers of proxies and frameworks, and some that the service reads. */
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
export const headers = mostly(
  4,
  fc.constant({}),
  fc.constantFrom(...OTHER_HEADERS).map(([name, value]) => ({ [name]: value })),
) as Arbitrary<Record<string, string>>;
/** A fresh Idempotency-Key, a reused one, or an invalid one. */
export const key = fc.oneof(
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

export const percent = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

export function query(names: readonly string[]): Arbitrary<string> {
  const value = fc.oneof(
    fc.constantFrom(...VALUES.split(' ')),
    hostileText.map(percent),
    hostileJson.map((text) => Buffer.from(text).toString('base64url').slice(0, 6000)),
  );
  const pair = fc.tuple(fc.constantFrom(...names, 'x'), value).map((each) => each.join('='));
  return fc
    .array(mostly(5, pair, fc.constantFrom(...ODD_PAIRS)), { maxLength: 4 })
    .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`));
}

export function segment(ids: readonly string[]): Arbitrary<string> {
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

export function body(valid: unknown, method: string): Arbitrary<Buffer | null> {
  if (method === 'TRACE') return fc.constant(null);
  const any = hostileJson.map((text) => Buffer.from(text));
  if (method === 'GET' || method === 'HEAD') return mostly(30, fc.constant(null), any);
  const sound = fc.oneof(...[1000, 30, 6].map((soundness) => spoilt(valid, soundness)));
  const bytes = sound.chain((text) => damaged(Buffer.from(text), 15));
  return mostly(30, bytes, fc.constantFrom(null, Buffer.alloc(0)));
}

export const typed = (bytes: Buffer | null): Arbitrary<Record<string, string>> =>
  bytes === null
    ? fc.constant({})
    : mostly(20, fc.constant('application/json'), CONTENT_TYPES).map((type) => ({ 'content-type': type }));
