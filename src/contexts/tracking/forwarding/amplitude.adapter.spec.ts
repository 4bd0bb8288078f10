import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AnalyticsEvent } from './analytics.ports.js';
import { AMPLITUDE_WAITS, toResult } from './amplitude.adapter.js';

const events: AnalyticsEvent[] = ['a', 'b', 'c', 'd', 'e'].map((name) => ({
  merchant_id: 'merchant',
  event_id: name,
  user_external_id: name,
  device_id: name === 'e' ? null : `device-${name}`,
  event_name: 'order paid',
  event_datetime: '1970-01-01T00:00:00.000000Z',
  payload: '{}',
}));

const said = (status: number, body: object | string = {}, retryAfter: string | null = null, sent = events) =>
  toResult(
    {
      status,
      retryAfter,
      body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
      error: null,
    },
    sent,
    AMPLITUDE_WAITS,
  );

describe('a response of Amplitude', () => {
  it('accepts all events only if its status and the code in its body are 200', () => {
    expect(said(200, { code: 200, events_ingested: 5 })).toEqual({ outcome: 'accepted' });
    for (const other of ['<html>welcome</html>', '', 'null', '[]', { code: 400 }])
      expect(said(200, other)).toMatchObject({ outcome: 'unavailable', cause: 'failing' });
  });

  it('with status 400 lists the events that are refused, each with its reason', () => {
    const read = said(400, {
      code: 400,
      error: 'Request missing required field',
      events_with_missing_fields: { event_type: [0] },
      events_with_invalid_fields: { time: [1], 'a name with spaces and +1 555 000': [2] },
      events_with_invalid_id_lengths: { user_id: [3] },
      silenced_events: [4, 99, -1, 1.5, 'x'],
    });
    const refused = [
      { index: 0, reason: 'missing event_type' },
      { index: 1, reason: 'invalid time' },
      { index: 2, reason: 'invalid field' },
      { index: 3, reason: 'invalid length of user_id' },
      { index: 4, reason: 'silenced device' },
    ];
    expect(read).toMatchObject({ outcome: 'parted', refused, throttled: [] });
  });

  it('with status 400 can refuse events of silenced devices and throttle other events', () => {
    const read = said(400, {
      silenced_events: [0],
      throttled_devices: { 'device-d': 100 },
      throttled_events: [3],
    });
    expect(read).toEqual({
      outcome: 'parted',
      refused: [{ index: 0, reason: 'silenced device' }],
      throttled: [{ index: 3, waitMs: 30_000 }],
    });
  });

  it('with status 429 throttles the listed events, users and devices, longer above a daily quota', () => {
    expect(
      said(429, { throttled_events: [1, 2, 5, -1], throttled_users: { 'merchant:a': 40 } }),
    ).toMatchObject({
      throttled: [{ index: 1 }, { index: 2 }],
    });
    expect(
      said(429, { throttled_users: { 'merchant:a': 40 }, throttled_devices: { 'device-b': 31 } }),
    ).toMatchObject({
      throttled: [
        { index: 0, waitMs: 30_000 },
        { index: 1, waitMs: 30_000 },
      ],
    });
    expect(
      said(429, { throttled_events: [4], exceeded_daily_quota_users: { 'merchant:e': 500_200 } }),
    ).toMatchObject({ outcome: 'parted', refused: [], throttled: [{ index: 4, waitMs: 3_600_000 }] });
  });

  it.each([
    ['a wrong key', 400, { error: 'Invalid API key: abc' }, 'unauthorized'],
    [
      'a wrong key and an invalid event',
      400,
      { error: 'Invalid API key', events_with_invalid_fields: { time: [0] } },
      'unauthorized',
    ],
    ['a wrong key (status 401)', 401, {}, 'unauthorized'],
    ['a wrong path', 400, { error: 'Invalid request path' }, 'misconfigured'],
    ['an unknown path', 404, {}, 'misconfigured'],
    ['a redirect', 308, {}, 'misconfigured'],
    ['the rate limit of the project', 429, { code: 429, error: 'Too many' }, 'rate_limited'],
    ['a timeout', 408, {}, 'failing'],
    ['an internal error', 500, {}, 'failing'],
    ['a failed gateway', 502, '<html>', 'failing'],
  ])('about %s means that the provider is unavailable', (_, status, body, cause) => {
    expect(said(status, body)).toMatchObject({ outcome: 'unavailable', cause });
  });

  it('rejects the whole request if it lists no event of the request', () => {
    expect(said(413)).toEqual({ outcome: 'too_large' });
    expect(said(403, { code: 403, error: 'Forbidden' })).toMatchObject({ outcome: 'rejected' });
    expect(said(400, { error: 'Invalid JSON request body' })).toMatchObject({ outcome: 'rejected' });
    expect(said(400, { events_with_invalid_fields: { time: [77] } })).toMatchObject({ outcome: 'rejected' });
  });

  it('with status 413 refuses a single event only if the event exceeds half the size limit', () => {
    const sent = (bytes: number) => said(413, {}, null, [{ ...events[0]!, payload: 'x'.repeat(bytes) }]);
    expect(sent(475_001)).toMatchObject({ refused: [{ index: 0, reason: 'too large' }], throttled: [] });
    expect(sent(475_000)).toEqual({ outcome: 'rejected', reason: 'too large' });
  });

  it.each([
    ['120', 120_000],
    ['999999', 3_600_000],
    [new Date(Date.now() - 5000).toUTCString(), 0],
    ['soon', null],
  ])('requests the pause of a Retry-After header if the header is valid: %s', (retryAfter, retryAfterMs) => {
    expect(said(503, {}, retryAfter)).toMatchObject({ retryAfterMs });
  });

  it('is handled without an exception when it is malformed', () => {
    fc.assert(
      fc.property(fc.constantFrom(200, 400, 429, 500), fc.json(), (status, body) => {
        expect(said(status, body).outcome).toEqual(expect.any(String));
      }),
    );
    const lists = ['throttled_events', 'silenced_events', 'events_with_invalid_fields', 'throttled_users'];
    for (const name of lists)
      for (const value of [null, 1, 'x', [[0]], [{}], { a: 1 }, { a: [null] }])
        for (const status of [400, 429])
          expect(said(status, { [name]: value }).outcome).toMatch(/rejected|unavailable|parted/);
  });
});
