/** No response: the connection is cut. */
const CUT = { cut: true };
const response = (status, { after, body = '' } = {}) => ({
  ...{ status, body },
  headers: after === undefined ? {} : { 'retry-after': after },
});
const OK = response(200, { body: '{"user":{"id":"u"}}' });

/**
 * The result of a read after these steps: its data or the name of its error. Each wait has bounds in milliseconds.
 */
const run = (name, steps, attempts, outcome, waits = []) => ({
  ...{ name, steps, attempts, outcome, waits },
  sent: waits.length + 1,
});

const FIRST = [100, 200];
const SECOND = [200, 400];
const THIRD = [400, 800];

export const attempts = [
  run('a response at once', [OK], 6, 'ok'),
  run('a cut connection, then a response', [CUT, OK], 6, 'ok', [FIRST]),
  run('cuts and 503, one after the other', [CUT, response(503), CUT, OK], 6, 'ok', [FIRST, SECOND, THIRD]),
  run('429 with Retry-After', [response(429, { after: '2' }), OK], 6, 'ok', [[2000, 2200]]),
  run('cuts alone', [CUT, CUT, CUT], 3, 'ConnectionError', [FIRST, SECOND]),
  run('one attempt and a cut', [CUT], 1, 'ConnectionError'),
  run('429 alone', [response(429), response(429)], 2, 'RateLimitError', [FIRST]),
  run('502 alone', [response(502), response(502), response(502)], 3, 'ServerError', [FIRST, SECOND]),
  run('one attempt and 503', [response(503)], 1, 'ServerError'),
  run('404 at once', [response(404)], 6, 'NotFoundError'),
  run('a cut, then 422', [CUT, response(422)], 6, 'InvalidRequestError', [FIRST]),
  run('Retry-After longer than the caller waits', [response(503, { after: '3600' })], 6, 'ServerError'),
  run('a redirect is not followed', [response(302), OK], 6, 'ok', [FIRST]),
  run('501 at once', [response(501)], 6, 'ServerError'),
];
