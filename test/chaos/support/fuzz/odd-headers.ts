export const CONTENT_TYPES = [
  ...[
    'application/json; charset=utf-8',
    'application/json;charset=utf-16',
    'APPLICATION/JSON',
    'text/json',
    'text/plain',
  ],
  ...[
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/problem+json',
    ';',
    '*/*',
  ],
  ...[
    'application/json, application/json',
    'application/json;;;=',
    'a'.repeat(2000),
    '__proto__/constructor',
    '',
  ],
];
export const ENCODINGS = ['gzip', 'br', 'deflate', 'identity', 'zstd', 'x', ''];
export const ACCEPTS = [
  '*/*',
  'text/plain',
  'text/html',
  'application/json;q=0',
  'text/*;q=NaN',
  ',,,;;;',
  'x'.repeat(3000),
];
export const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
  'LINK',
];
export const BAD_KEYS = [
  '',
  '""',
  '"',
  'no-uuid',
  '"no-uuid"',
  '""x"',
  '"\u00e9"',
  '?1',
  '(a b)',
  `"${'a'.repeat(4000)}"`,
];
/** Headers that a proxy or a framework may listen to. */
export const OTHER_HEADERS: readonly (readonly [string, string])[] = [
  ...([
    ['x-forwarded-for', '1.2.3.4, ::1, unknown'],
    ['x-forwarded-proto', 'https'],
    ['x-forwarded-host', '['],
  ] as const),
  ...([
    ['forwarded', 'for="[::1]:x";proto=\u00ff'],
    ['x-http-method-override', 'DELETE'],
    ['range', 'bytes=0-,9-1'],
  ] as const),
  ...([
    ['traceparent', '00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-ff'],
    ['traceparent', '00-0-0-zz'],
  ] as const),
  ...([
    ['tracestate', `${'a=b,'.repeat(500)}`],
    ['cookie', '__proto__=1; ;=;'],
    ['origin', 'null'],
  ] as const),
  ...([
    ['if-none-match', '*'],
    ['te', 'trailers, deflate;q=0'],
    ['via', '\u00e9'],
    ['request-id', 'x"{}'],
  ] as const),
];
