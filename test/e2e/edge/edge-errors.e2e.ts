import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { onEdgeApp, startEdgeApp } from '../../support/http/edge-app.js';
import { WAIT_MS } from '../../support/eventually.js';
import { send, type ApiResponse } from '../../support/http/signed-client.js';

const edge = onEdgeApp({ RATE_LIMIT_PER_MINUTE: '1000' });

const PLAIN = '/merchants/v1/probe/plain';

function expectProblem(response: ApiResponse, status: number, title: string, errors: unknown = {}): void {
  expect(response.status).toBe(status);
  expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  expect(response.headers['request-id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(response.headers['cache-control']).toBe('no-store');
  const problem = { type: 'about:blank', title, status, detail: expect.any(String), instance: null, errors };
  expect(response.json()).toEqual(problem);
}

test('an unknown path gets 404; under the prefix of the signed API, an unsigned request gets 401', async () => {
  expectProblem(await send(`${edge.url}/nowhere`), 404, 'Resource not found');
  expectProblem(await send(`${edge.url}/merchants/v1/nowhere`), 401, 'Invalid request signature');
  expectProblem(await edge.client().get('/merchants/v1/nowhere'), 404, 'Resource not found');
  expectProblem(await edge.client().post('/merchants/v1/nowhere', {}), 404, 'Resource not found');
});

test('an unsupported method gets 405 with Allow', async () => {
  const response = await edge.client().call({ method: 'PUT', path: PLAIN });
  expectProblem(response, 405, 'Method not allowed');
  expect(response.headers['allow']?.split(', ').sort()).toEqual(['DELETE', 'PATCH', 'POST']);
});

test('a body that is no JSON, no UTF-8 or would pollute prototypes gets 400', async () => {
  const bodies = ['{', '{"constructor": {"prototype": 1}}', Buffer.from([0x22, 0xff, 0x22])];
  for (const body of bodies) {
    expectProblem(await edge.client().post(PLAIN, body), 400, 'Bad request');
  }
});

const ENCODED = ['gzip', 'X-GZip', 'deflate', 'br', 'zstd', 'identity, gzip', 'cow'];

test('a body with a Content-Encoding gets 415, and the error names the encoding', async () => {
  const sent = (encoding: string) =>
    edge
      .client()
      .call({ method: 'POST', path: PLAIN, body: '{}', headers: { 'content-encoding': encoding } });
  for (const encoding of ENCODED) {
    const response = await sent(encoding);
    expectProblem(response, 415, 'Unsupported media type');
    expect(response.json()['detail']).toContain(`Content-Encoding ${encoding} `);
    expect(response.headers['accept-encoding']).toBe('identity');
  }
  for (const encoding of ['identity', 'Identity', '', 'identity, identity'])
    expect((await sent(encoding)).status).toBe(201);
});

test('a byte order mark before the JSON is covered by the signature but not parsed', async () => {
  const marked = (json: string): Buffer => Buffer.from(`\ufeff${json}`);
  expect((await edge.client().post(PLAIN, marked('{}'))).status).toBe(201);
  const client = edge.client();
  const key = randomUUID();
  expect((await client.post(PLAIN, marked('{"a":1}'), key)).status).toBe(201);
  expect((await client.post(PLAIN, '{"a":1}', key)).status).toBe(422);
  expectProblem(await client.post(PLAIN, marked(marked('{}').toString())), 400, 'Bad request');
});

test('a body nested too deep gets 422, and 34 levels are accepted', async () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  expect((await edge.client().post(PLAIN, nested(34))).status).toBe(201);
  expectProblem(await edge.client().post(PLAIN, nested(35)), 422, 'Invalid request parameters');
  expect((await edge.client().post(PLAIN, JSON.stringify({ text: '['.repeat(100) + '\\"{{' }))).status).toBe(
    201,
  );
});

test('a body without a JSON content type gets 415', async () => {
  const sent = (type: string | null) =>
    edge.client().call({ method: 'POST', path: PLAIN, body: '{}', headers: { 'content-type': type } });
  for (const type of ['text/plain', 'garbage', 'application/json; charset=latin1'])
    expectProblem(await sent(type), 415, 'Unsupported media type');
  for (const type of ['Application/JSON; charset="UTF-8"', 'application/vnd.api+json', null])
    expect((await sent(type)).status).toBe(201);
});

test('a body of 1,048,576 bytes gets 413, counted or announced, and one byte less is accepted', async () => {
  const padded = (size: number) => Buffer.concat([Buffer.from('{}'), Buffer.alloc(size - 2, 0x20)]);
  expect((await edge.client().post(PLAIN, padded(1_048_575))).status).toBe(201);
  expectProblem(await edge.client().post(PLAIN, padded(1_048_576)), 413, 'Content too large');
  expectProblem(await edge.client().post(PLAIN, padded(4_000_000)), 413, 'Content too large');
  // The size of a chunked body is unknown in advance, and no body of an unknown caller is read.
  const { apiKey } = edge.client().credentials;
  const streamed = await raw(
    `POST ${PLAIN} HTTP/1.1\r\nHost: x\r\nsvc-api-key: ${apiKey}\r\n` +
      `svc-timestamp: ${Math.floor(Date.now() / 1000)}\r\nsvc-signature: b\r\n` +
      `Transfer-Encoding: chunked\r\n\r\n${`10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(17)}0\r\n\r\n`,
  );
  expect(streamed).toMatch(/^HTTP\/1\.1 413 /);
  expect(streamed).toContain('"title":"Content too large","status":413');
});

test('any number of unknown fields of a body is ignored without cost', async () => {
  const extra = { a: Array(400_000).fill(1) };
  const response = await edge
    .client()
    .post('/merchants/v1/probe/valid', { wrapper: { url: 'x', size: 1, extra } });
  expect(response.status).toBe(201);
});

test('a malformed path gets 400', async () =>
  expectProblem(await send(`${edge.url}/%zz`), 400, 'Bad request'));

test.each(['a=%ff', '%ff=a', 'a=%c3', 'a=%c0%80', 'a=%ed%a0%80', 'a=%zz', 'a=100%'])(
  'a query that is no percent-encoded UTF-8 gets 400: %j',
  async (query) => {
    const lines = [`GET /merchants/v1/probe/whoami?${query} HTTP/1.1`, 'Host: x', 'Connection: close'];
    const response = await raw(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'));
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(response).toContain('The query string must be percent-encoded UTF-8');
  },
);

function raw(bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(edge.url).port), '127.0.0.1', () => socket.write(bytes));
    let response = '';
    socket.setTimeout(WAIT_MS, () => socket.destroy());
    socket.on('data', (chunk) => {
      response += chunk.toString();
      const [head = '', body] = response.split('\r\n\r\n');
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
      if (body !== undefined && Buffer.byteLength(body) >= length) socket.destroy();
    });
    socket.on('close', () => resolve(response));
    socket.on('error', (error) => (response === '' ? reject(error) : resolve(response)));
  });
}

test.each([
  ['a request that is no HTTP', 'HELLO\r\n\r\n', 400, 'Bad request'],
  ['a request without a Host', 'GET / HTTP/1.1\r\n\r\n', 400, 'Bad request'],
])('%s gets 400 with a problem document', async (_, bytes, status, title) => {
  const response = await raw(bytes);
  const [head = '', body = ''] = response.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head).toMatch(/^content-type: application\/problem\+json/im);
  expect(head).toMatch(/^request-id: [0-9a-f-]{36}/im);
  expect(head).toMatch(/^cache-control: no-store/im);
  expect(JSON.parse(body)).toMatchObject({ type: 'about:blank', title, status, instance: null, errors: {} });
});

test('REQUIRE_HTTPS refuses requests that a trusted proxy got in the clear, and sets HSTS', async () => {
  const strict = await startEdgeApp(edge.db.database, { REQUIRE_HTTPS: 'true', TRUST_PROXY: '127.0.0.1' });
  const client = strict.client();
  const path = '/merchants/v1/probe/whoami';
  expectProblem(await client.get(path), 403, 'Access forbidden');
  expectProblem(await client.get(path, { 'x-forwarded-proto': 'http' }), 403, 'Access forbidden');
  const secure = await client.get(path, { 'x-forwarded-proto': 'https' });
  expect([secure.status, secure.headers['strict-transport-security']]).toEqual([200, 'max-age=31536000']);
  const refused = await send(`${strict.url}${path}`, { headers: { 'x-forwarded-proto': 'https' } });
  expect([refused.status, refused.headers['strict-transport-security']]).toEqual([401, 'max-age=31536000']);
  const clear = await client.get(path, { 'x-forwarded-proto': 'http' });
  expect(clear.headers['strict-transport-security']).toBeUndefined();
  expect((await send(`${strict.url}/health/live`)).status).toBe(200);
  await strict.close();
});
