/** 2025-06-15T15:06:40Z, in milliseconds. */
const NOW_MS = 1_750_000_000_000;
const IN_FLIGHT = JSON.stringify({ detail: 'A request with this Idempotency-Key is in flight' });
const inGmt = (ms) => new Date(NOW_MS + ms).toUTCString();

/**
 * A decision: null where the call ends with the response. `at_least` and `at_most` are the bounds of the wait in
 * milliseconds, which the jitter's own bounds reach.
 */
const decision = (name, status, bounds, { after, body = '', attempt = 1, maxWaitMs = 60_000 } = {}) => ({
  name,
  status,
  headers: after === undefined ? {} : { 'retry-after': after },
  ...{ body, attempt, max_wait_ms: maxWaitMs, now_ms: NOW_MS },
  at_least: bounds?.[0] ?? null,
  at_most: bounds?.[1] ?? null,
});

/** 200 ms doubled from attempt to attempt; between half of it and all. */
const SHORT = { 1: [100, 200], 2: [200, 400], 3: [400, 800], 4: [800, 1600], 5: [1600, 3200] };
/** The bounds of a wait that the service demands, with up to 200 ms of jitter. */
const demanded = (ms) => [ms, ms + 200];

export const retries = [
  ...[429, 500, 502, 503, 504].flatMap((status) =>
    [1, 3, 5].map((attempt) =>
      decision(`${status}, attempt ${attempt}`, status, SHORT[attempt], { attempt }),
    ),
  ),
  ...[400, 401, 402, 403, 404, 405, 408, 410, 412, 413, 415, 418, 422, 425, 431, 451, 501, 505, 507, 511].map(
    (status) => decision(`${status} is an error at once`, status, null),
  ),
  decision('422 with Retry-After is an error at once', 422, null, { after: '1' }),
  decision('409 while the key is in flight', 409, SHORT[1], { body: IN_FLIGHT }),
  decision('409 while the key is in flight, later', 409, SHORT[2], { body: IN_FLIGHT, attempt: 2 }),
  decision('409 while the key is in flight, with Retry-After', 409, demanded(2000), {
    body: IN_FLIGHT,
    after: '2',
  }),
  decision('409 because of a state', 409, null, { body: '{"detail":"The user is deactivated"}' }),
  decision('409 without a body', 409, null),
  decision('422 that names a key in flight', 422, null, { body: IN_FLIGHT }),
  decision('Retry-After of a second', 429, demanded(1000), { after: '1' }),
  decision('Retry-After of seven seconds', 503, demanded(7000), { after: '7' }),
  decision('Retry-After counts more than the attempt', 503, demanded(1000), { after: '1', attempt: 5 }),
  decision('Retry-After with a fraction', 429, demanded(1500), { after: '1.5' }),
  decision('Retry-After without a whole part', 429, demanded(500), { after: '.5' }),
  decision('Retry-After with an exponent', 429, demanded(20_000), { after: '2e1' }),
  decision('Retry-After with spaces', 429, demanded(3000), { after: ' 3 ' }),
  decision('Retry-After with a plus', 429, demanded(3000), { after: '+3' }),
  decision('Retry-After with leading zeros', 429, demanded(3000), { after: '003' }),
  decision('Retry-After as long as the caller waits', 429, demanded(60_000), { after: '60' }),
  decision('Retry-After longer than the caller waits', 429, null, { after: '61' }),
  decision('Retry-After of a day', 503, null, { after: '86400' }),
  decision('Retry-After beyond a caller who waits less', 429, null, { after: '2', maxWaitMs: 1999 }),
  decision('Retry-After within a caller who waits more', 429, demanded(300_000), {
    after: '300',
    maxWaitMs: 300_000,
  }),
  decision('Retry-After of nothing', 429, SHORT[1], { after: '0' }),
  decision('Retry-After below nothing', 429, SHORT[1], { after: '-5' }),
  decision('Retry-After that is empty', 429, SHORT[1], { after: '' }),
  decision('Retry-After in words', 429, SHORT[1], { after: 'soon' }),
  decision('Retry-After without end', 429, SHORT[1], { after: 'Infinity' }),
  decision('Retry-After beyond all numbers', 429, SHORT[1], { after: '1e999' }),
  decision('Retry-After that is no number', 503, SHORT[2], { after: 'NaN', attempt: 2 }),
  decision('Retry-After with a unit', 503, SHORT[1], { after: '5s' }),
  decision('Retry-After as a date', 503, demanded(9000), { after: inGmt(9000) }),
  decision('Retry-After as a date a minute later', 503, demanded(60_000), { after: inGmt(60_000) }),
  decision('Retry-After as a date too far', 503, null, { after: inGmt(61_000) }),
  decision('Retry-After as a date in the past', 503, SHORT[1], { after: inGmt(-60_000) }),
  decision('Retry-After as the date of now', 503, SHORT[3], { after: inGmt(0), attempt: 3 }),
  decision('Retry-After as a date with an offset', 503, demanded(9000), {
    after: 'Sun, 15 Jun 2025 17:06:49 +0200',
  }),
  decision('Retry-After as a date of ISO 8601', 503, demanded(9000), { after: '2025-06-15T15:06:49Z' }),
  decision('Retry-After as a date of RFC 850', 503, demanded(9000), {
    after: 'Sunday, 15-Jun-25 15:06:49 GMT',
  }),
];
