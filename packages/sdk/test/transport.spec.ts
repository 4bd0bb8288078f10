import { describe, expect, it } from '@jest/globals';
import {
  ConnectionError,
  Disburse,
  RateLimitError,
  ServerError,
  type MerchantOptions,
} from '../src/index.js';
import { waitOf } from '../src/transport.js';

const IN_FLIGHT = 'A request with this Idempotency-Key is in flight';
const response = (status: number, headers: Record<string, string> = {}): Response =>
  new Response(null, { status, headers });

describe('the wait before the next attempt', () => {
  it.each([429, 500, 502, 503, 504])('after %d is short, and doubles', (status) => {
    for (const attempt of [1, 2, 3, 4]) {
      const wait = waitOf(response(status), '', attempt, 60_000)!;
      expect(wait).toBeGreaterThanOrEqual(100 * 2 ** (attempt - 1));
      expect(wait).toBeLessThanOrEqual(200 * 2 ** (attempt - 1));
    }
  });

  it('is at least Retry-After, in seconds or as a date', () => {
    const inSeconds = waitOf(response(429, { 'retry-after': '7' }), '', 1, 60_000)!;
    expect(inSeconds).toBeGreaterThanOrEqual(7000);
    expect(inSeconds).toBeLessThan(7300);
    const date = new Date(Date.now() + 9000).toUTCString();
    const asDate = waitOf(response(503, { 'retry-after': date }), '', 1, 60_000)!;
    expect(asDate).toBeGreaterThan(7000);
    expect(asDate).toBeLessThan(9300);
  });

  it('is none where Retry-After is longer than the caller waits: the error comes at once', () => {
    expect(waitOf(response(429, { 'retry-after': '61' }), '', 1, 60_000)).toBeNull();
  });

  it.each([400, 401, 403, 404, 410, 413, 415, 422, 501])(
    'is none after %d: a repeat would get the same',
    (status) => {
      expect(waitOf(response(status), '', 1, 60_000)).toBeNull();
    },
  );

  it('after 409 is short while the key is in flight, and none when the state forbids the write', () => {
    expect(waitOf(response(409), JSON.stringify({ detail: IN_FLIGHT }), 1, 60_000)).not.toBeNull();
    expect(
      waitOf(response(409), JSON.stringify({ detail: 'The user is deactivated' }), 1, 60_000),
    ).toBeNull();
  });
});

describe('a call', () => {
  type Step = Response | Error;
  function clientOf(steps: Step[], more: Partial<MerchantOptions> = {}) {
    const sent: { readonly key: string | null; readonly timestamp: string; readonly body: string }[] = [];
    const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
      const headers = init!.headers as Headers;
      const body = init!.body === undefined ? '' : new TextDecoder().decode(init!.body as Uint8Array);
      sent.push({ key: headers.get('idempotency-key'), timestamp: headers.get('svc-timestamp')!, body });
      const step = steps.shift()!;
      if (step instanceof Error) throw step;
      return step;
    };
    const options = { baseUrl: 'http://localhost', apiKey: 'a', privateKey: 'p', attempts: 3, ...more };
    return { client: new Disburse({ ...options, fetch: fetch as typeof globalThis.fetch }), sent };
  }
  const created = (): Response =>
    Response.json({ user: { id: 'u' } }, { status: 201, headers: { 'request-id': 'r' } });

  it('is repeated under one key with the same body, each attempt with its own signature', async () => {
    const { client, sent } = clientOf([new TypeError('fetch failed'), response(503), created()]);
    const result = await client.users.create({ phone_number: '+15551230001' });
    expect(result).toMatchObject({
      status: 201,
      requestId: 'r',
      replayed: false,
      data: { user: { id: 'u' } },
    });
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map(({ key }) => key)).size).toBe(1);
    expect(new Set(sent.map(({ body }) => body))).toEqual(new Set(['{"phone_number":"+15551230001"}']));
  });

  it.each(['baseUrl', 'apiKey', 'privateKey'])('needs a %s: an empty variable is named', (name) => {
    expect(() => clientOf([], { [name]: '' })).toThrow(new TypeError(`${name} is missing`));
  });

  it('of a read has no key', async () => {
    const { client, sent } = clientOf([Response.json({ user: {} })]);
    await client.users.get('u');
    expect(sent).toEqual([{ key: null, timestamp: expect.any(String), body: '' }]);
  });

  it('has another key than the call before, unless both have the same own id', async () => {
    const { client, sent } = clientOf([created(), created(), created(), created()]);
    const body = { phone_number: '+15551230001' };
    for (const options of [undefined, undefined, { idempotencyKey: 'ü 1' }, { idempotencyKey: 'ü 1' }])
      await client.users.create(body, options);
    const keys = sent.map(({ key }) => key);
    expect(keys[2]).toBe(keys[3]);
    expect(new Set(keys).size).toBe(3);
    for (const key of keys) expect(key).toMatch(/^"[0-9a-f-]{36}"$/);
  });

  it('ends in a ConnectionError with its cause, or in the last error, after all attempts', async () => {
    const cut = new TypeError('fetch failed');
    const broken = clientOf([cut, cut, cut]);
    await expect(broken.client.users.get('u')).rejects.toMatchObject({ name: 'ConnectionError', cause: cut });
    await expect(clientOf([cut], { attempts: 1 }).client.users.get('u')).rejects.toBeInstanceOf(
      ConnectionError,
    );
    const busy = clientOf([response(429), response(429), response(429)]);
    await expect(busy.client.users.get('u')).rejects.toBeInstanceOf(RateLimitError);
    const failing = clientOf([response(502), response(502), new Response('<html>', { status: 502 })]);
    await expect(failing.client.users.get('u')).rejects.toMatchObject({
      name: 'ServerError',
      title: 'HTTP 502',
    });
    expect(failing.sent).toHaveLength(3);
    await expect(clientOf([response(500)], { attempts: 1 }).client.users.get('u')).rejects.toBeInstanceOf(
      ServerError,
    );
  });

  it('ends at once when its caller aborts it', async () => {
    const controller = new AbortController();
    const { client, sent } = clientOf([response(503, { 'retry-after': '30' }), created()]);
    const call = client.users.create({ phone_number: '+15551230001' }, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 50);
    await expect(call).rejects.toThrow('enough');
    expect(sent).toHaveLength(1);
  });
});
