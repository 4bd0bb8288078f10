import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { ConnectionError, Disburse, ResponseTooLargeError, type MerchantOptions } from '../src/index.js';

const response = (status: number, headers: Record<string, string> = {}): Response =>
  new Response(null, { status, headers });

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

  it('is repeated with the same idempotency key and the same body until it succeeds', async () => {
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

  it.each(['baseUrl', 'apiKey', 'privateKey'])('is impossible if %s is empty', (name) => {
    expect(() => clientOf([], { [name]: '' })).toThrow(new TypeError(`${name} is missing`));
  });

  it('has a new idempotency key, unless the caller repeats the id of an earlier call', async () => {
    const { client, sent } = clientOf([created(), created(), created(), created()]);
    const body = { phone_number: '+15551230001' };
    for (const options of [undefined, undefined, { idempotencyKey: 'ü 1' }, { idempotencyKey: 'ü 1' }])
      await client.users.create(body, options);
    const keys = sent.map(({ key }) => key);
    expect(keys[2]).toBe(keys[3]);
    expect(new Set(keys).size).toBe(3);
    for (const key of keys) expect(key).toMatch(/^"[0-9a-f-]{36}"$/);
  });

  it('rejects with the cause if it gets no response', async () => {
    const cut = new TypeError('fetch failed');
    const { client } = clientOf([cut], { attempts: 1 });
    await expect(client.users.get('u')).rejects.toMatchObject({ name: 'ConnectionError', cause: cut });
  });

  it.each(['', '.', '..', undefined, 7])('is refused before it is sent when its id is %j', async (id) => {
    const { client, sent } = clientOf([]);
    await expect(client.users.get(id as string)).rejects.toThrow(/ is not a valid id: expected a text/);
    await expect(client.webhookEndpoints.delete(id as string)).rejects.toThrow(TypeError);
    expect(sent).toEqual([]);
  });

  it.each([200, 503])('with an endless %d response reads it up to the size limit, once', async (status) => {
    let cancelled = 0;
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1000)),
      cancel: () => void (cancelled += 1),
    });
    const { client, sent } = clientOf([new Response(endless, { status })], { maxResponseBytes: 2500 });
    const error: unknown = await client.users.get('u').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ResponseTooLargeError);
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as Error).message).toBe(
      'GET /merchants/v1/users/u: the response is larger than 2500 bytes',
    );
    expect([sent.length, cancelled]).toEqual([1, 1]);
  });

  it('accepts a response of exactly the size limit whose characters arrive byte by byte', async () => {
    const bytes = new TextEncoder().encode('{"user":{"id":"ü💸"}}');
    const parts = new ReadableStream({
      start: (controller) => {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const { client } = clientOf([new Response(parts)], { maxResponseBytes: bytes.length });
    expect((await client.users.get('u')).data.user.id).toBe('ü💸');
  });

  it('ends at once when its caller aborts it', async () => {
    const controller = new AbortController();
    const { client, sent } = clientOf([response(503, { 'retry-after': '30' }), created()]);
    const call = client.users.create({ phone_number: '+15551230001' }, { signal: controller.signal });
    await eventually(() => sent.length > 0);
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(sent).toHaveLength(1);
  });
});
