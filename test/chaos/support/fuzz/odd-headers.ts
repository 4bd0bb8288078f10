export const CONTENT_TYPES = [
  'application/json; charset=utf-8',
  'application/json;charset=utf-16',
  'APPLICATION/JSON',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/problem+json',
  'application/json, application/json',
  'application/json;;;=',
  '*/*',
  ';',
  'a'.repeat(2000),
  '',
];
export const ENCODINGS = ['gzip', 'br', 'deflate', 'identity', 'zstd', 'x', ''];
export const ACCEPTS = ['*/*', 'text/html', 'application/json;q=0', 'text/*;q=NaN', ',,;;', 'x'.repeat(3000)];
export const METHODS = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND QUERY LINK'.split(' ');
export const BAD_KEYS = [
  '',
  '""',
  '"',
  'x',
  '"no-uuid"',
  '""x"',
  '"\u00e9"',
  '(a b)',
  `"${'a'.repeat(4000)}"`,
];
/** Headers that a proxy or a framework may use. */
export const OTHER_HEADERS: readonly (readonly [string, string])[] = [
  ['x-forwarded-for', '1.2.3.4, ::1, unknown'],
  ['x-forwarded-proto', 'https'],
  ['x-forwarded-host', '['],
  ['forwarded', 'for="[::1]:x";proto=\u00ff'],
  ['x-http-method-override', 'DELETE'],
  ['range', 'bytes=0-,9-1'],
  ['traceparent', '00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-ff'],
  ['traceparent', '00-0-0-zz'],
  ['tracestate', 'a=b,'.repeat(500)],
  ['cookie', '__proto__=1; ;=;'],
  ['origin', 'null'],
  ['if-none-match', '*'],
  ['te', 'trailers, deflate;q=0'],
  ['via', '\u00e9'],
  ['request-id', 'x"{}'],
];
