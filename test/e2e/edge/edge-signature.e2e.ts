import { expect, test } from '@jest/globals';
import { onEdgeApp } from '../../support/http/edge-app.js';
import { send } from '../../support/http/signed-client.js';

const edge = onEdgeApp({ RATE_LIMIT_PER_MINUTE: '1000' });

const PATH = '/merchants/v1/probe/whoami';

test('a signed request is let in, and every response has a Request-Id', async () => {
  const client = edge.client();
  const response = await client.get(`${PATH}?size=7`);
  expect(response.status).toBe(200);
  expect(response.json()).toEqual({ merchant_id: client.credentials.apiKey, size: 7 });
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(response.headers['request-id']).toMatch(/^[0-9a-f-]{36}$/);
});

test('the path is signed as it is sent: percent-encoding kept, query string left out', async () => {
  const client = edge.client();
  const id = '7C0C3F2E-6F0A-4A39-9F55-3B6B3F8A1B11';
  expect((await client.get(`/merchants/v1/probe/%74hings/${id}?x=1`)).json()).toEqual({
    id: id.toLowerCase(),
  });
});

test('a path that only decodes to a signed one needs a signature too', async () => {
  const response = await send(`${edge.url}/%6Derchants/v1/probe/whoami`);
  expect(response.status).toBe(401);
});

test('a GET may carry a body, and then it is signed', async () => {
  const client = edge.client();
  expect((await client.call({ path: PATH, body: '{}' })).status).toBe(200);
  expect((await client.call({ path: PATH, body: 'not json' })).status).toBe(400);
});

test('an unsigned malformed body is 401, a signed one 400', async () => {
  const client = edge.client();
  const call = { method: 'POST', path: '/merchants/v1/probe/plain', body: '{"a":' } as const;
  expect((await client.call({ ...call, headers: { 'svc-signature': '0'.repeat(64) } })).status).toBe(401);
  expect((await send(`${edge.url}${call.path}`, { method: 'POST', body: call.body })).status).toBe(401);
  expect((await client.call(call)).status).toBe(400);
});

test('403 for a suspended merchant, but only to itself', async () => {
  const client = edge.client({ status: 'suspended' });
  const response = await client.get(PATH);
  expect(response.status).toBe(403);
  expect(response.json()).toMatchObject({ title: 'Access forbidden', status: 403, errors: {} });
  expect((await client.get(PATH, { 'svc-signature': '0'.repeat(64) })).status).toBe(401);
});

test('403 outside of the IP allow-list', async () => {
  expect((await edge.client({ ipAllowList: ['10.0.0.0/8', '2001:db8::/32'] }).get(PATH)).status).toBe(403);
  expect((await edge.client({ ipAllowList: ['10.0.0.0/8', '127.0.0.0/8'] }).get(PATH)).status).toBe(200);
});

test('a failure of the directory is 503, not an open gate', async () => {
  const { merchants } = edge;
  const client = edge.client();
  const get = merchants.get.bind(merchants);
  merchants.get = () => {
    throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
  };
  const response = await client.get(PATH).finally(() => {
    merchants.get = get;
  });
  expect(response.status).toBe(503);
  expect(response.headers['retry-after']).toBe('1');
  expect(response.text).not.toContain('5432');
});
