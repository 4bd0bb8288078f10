import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiCaller } from '../../../platform/http/merchant-directory.js';
import { Refusal, toProblem } from '../../../platform/http/problem.js';
import type { MemoryBudget } from '../../../platform/http/request-body.js';
import { sign } from '../../../platform/http/api.guard.js';
import { signedPrefix, SignatureGuard } from './signature.guard.js';

const KEY = '0b6f0b1e-55a2-4f0a-9d0c-0c3f8d3b1a2e';
const NOW = 1_700_000_000_000;
const TIMESTAMP = '1700000000';
const MERCHANT = { merchantId: KEY, privateKeys: ['former', 'present'] } as unknown as ApiCaller;
const HEADERS = { 'svc-api-key': KEY, 'svc-timestamp': TIMESTAMP, 'svc-signature': '0' };

class Reply {
  status = 0;
  body = '';
  readonly all: Record<string, string> = {};
  code(status: number): this {
    this.status = status;
    return this;
  }
  header(name: string, value: string): this {
    this.all[name] = value;
    return this;
  }
  send(body: string): void {
    this.body = body;
  }
  get detail(): string {
    return (JSON.parse(this.body) as { detail: string }).detail;
  }
}

describe('the signature of a merchant request', () => {
  let authentication: SignatureGuard;
  let reply: Reply;
  beforeEach(() => {
    jest.spyOn(Date, 'now').mockReturnValue(NOW);
    authentication = new SignatureGuard(
      { find: async (key) => (key === KEY ? (MERCHANT as never) : null) },
      {} as MemoryBudget,
    );
    reply = new Reply();
  });
  afterEach(() => void jest.restoreAllMocks());
  const request = (headers: object = {}, edge: object = {}) =>
    ({
      method: 'POST',
      headers,
      raw: { url: '/merchants/v1/users?a=b', headers },
      edge: { client: '192.0.2.1', rawBody: Buffer.from('{}'), isReleased: false, ...edge },
    }) as unknown as FastifyRequest;
  /** Returns the merchant, or the problem in the response. */
  const identify = (headers: object, edge: object = {}) =>
    authentication.identify(request(headers, edge)).catch(toProblem);
  /** Returns true for a valid signature, else the problem; null where the guard sent the response. */
  const verify = (headers: object, edge: object = {}) => {
    try {
      authentication.verify(request(headers, edge), reply as unknown as FastifyReply, MERCHANT);
      return true;
    } catch (error) {
      return error instanceof Refusal ? error.problem : null;
    }
  };
  const signedWith = (key: string, path = '/merchants/v1/users', method = 'POST'): object => ({
    ...HEADERS,
    'svc-signature': sign(key, signedPrefix(TIMESTAMP, method, path), Buffer.from('{}')).toString('hex'),
  });

  it('is attributed to the merchant of its API key', async () => {
    expect(await identify({ ...HEADERS, 'svc-api-key': KEY })).toBe(MERCHANT);
  });

  it.each<[string, object, number, string]>([
    ['has no key', { ...HEADERS, 'svc-api-key': '' }, 401, 'Missing required headers: svc-api-key'],
    [
      'has neither timestamp nor signature',
      { 'svc-api-key': KEY },
      401,
      'Missing required headers: svc-timestamp, svc-signature',
    ],
    ['has a key that is no uuid', { ...HEADERS, 'svc-api-key': 'x' }, 401, 'Invalid svc-api-key'],
    [
      'has an unknown key',
      { ...HEADERS, 'svc-api-key': KEY.replace('0b', '0c') },
      401,
      'Invalid svc-api-key',
    ],
    [
      'has a timestamp with a letter after it',
      { ...HEADERS, 'svc-timestamp': `${TIMESTAMP}s` },
      401,
      'svc-timestamp must be Unix seconds within 5 minutes of server time, which is 1700000000',
    ],
    [
      'is too old',
      { ...HEADERS, 'svc-timestamp': '1699999699' },
      401,
      'svc-timestamp must be Unix seconds within 5 minutes of server time, which is 1700000000',
    ],
    [
      'announces a body of 1 MiB',
      { ...HEADERS, 'content-length': '1048576' },
      413,
      'The request body must be smaller than 1048576 bytes',
    ],
  ])('is refused before the body is read if it %s', async (_what, headers, status, detail) => {
    expect(await identify(headers)).toMatchObject({ status, detail });
  });

  it.each(['former', 'present'])('is valid with the %s private key', (key) => {
    expect(verify(signedWith(key))).toBe(true);
    expect(reply.status).toBe(0);
  });

  it.each<[string, object, object]>([
    ['the request with another key', signedWith('another'), {}],
    ['another path', signedWith('present', '/merchants/v1/payouts'), {}],
    ['another method', signedWith('present', '/merchants/v1/users', 'PUT'), {}],
    ['another body', signedWith('present'), { rawBody: Buffer.from('{ }') }],
    ['a request with two signature headers', { ...HEADERS, 'svc-signature': ['a', 'b'] }, {}],
  ])(
    'is invalid if it covers %s; the response contains the bytes that the server signed',
    (_what, headers, edge) => {
      expect(verify(headers, edge)).toBeNull();
      expect([reply.status, reply.all['content-type'], reply.detail]).toEqual([
        401,
        'application/problem+json; charset=utf-8',
        'svc-signature does not match the request',
      ]);
      expect(JSON.parse(reply.body)).toHaveProperty('string_to_sign_bytes');
      verify({ ...headers, accept: 'text/plain' }, edge);
      expect(reply.all['content-type']).toBe('text/plain; charset=utf-8');
    },
  );

  it('is refused with 429 after 300 failures from an address; a large body is then not read', async () => {
    for (let n = 0; n < 300; n += 1) verify(HEADERS);
    expect(reply.status).toBe(401);
    expect(verify(HEADERS)).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
    const large = { ...HEADERS, 'content-length': '20000' };
    expect(await identify(HEADERS)).toBe(MERCHANT);
    expect(await identify(large)).toMatchObject({ status: 429 });
    expect(await identify(large, { client: '192.0.2.2' })).toBe(MERCHANT);
    verify(signedWith('present'));
    expect(await identify(large)).toBe(MERCHANT);
    const next = { client: '192.0.2.3' };
    expect(verify(HEADERS, { ...next, rawBody: Buffer.alloc(16_384 * 299) })).toBeNull();
    expect(verify(HEADERS, next)).toMatchObject({ status: 429 });
  });
});
