import { createHmac, randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, test } from '@jest/globals';
import { MemoryBudget } from '../../../src/platform/http/request-body.js';
import { RequestState } from '../../../src/platform/http/request-state.js';
import { startEdgeApp, type EdgeApp } from '../../support/http/edge-app.js';
import { eventually, WAIT_MS } from '../../support/eventually.js';
import { onTestDatabase } from '../../support/postgres.js';
import type { SignedClient } from '../../support/http/signed-client.js';

/** A case about /proc or 127.0.0.0/8, for Linux only. */
const onLinux = process.platform === 'linux' ? it : it.skip;

const db = onTestDatabase();
let edge: EdgeApp;
const sockets: Socket[] = [];
afterEach(async () => {
  sockets.splice(0).forEach((socket) => socket.destroy());
  await edge.close();
});
const PLAIN = '/merchants/v1/probe/plain';
const WRONG = '0'.repeat(64);
const LARGE = Buffer.alloc(1_048_575, 0x20);
const LARGE_JSON = Buffer.concat([LARGE.subarray(2), Buffer.from('{}')]);

interface Head {
  readonly apiKey: string;
  readonly path?: string;
  readonly method?: string;
  readonly timestamp?: number;
  readonly more?: readonly string[];
}

function head({
  apiKey,
  path = PLAIN,
  method = 'POST',
  timestamp = Date.now() / 1000,
  more = [],
}: Head): string {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: x',
    `svc-api-key: ${apiKey}`,
    `svc-timestamp: ${Math.floor(timestamp)}`,
    `svc-signature: ${WRONG}`,
    ...more,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

async function open(localAddress = '127.0.0.1'): Promise<Socket> {
  const port = Number(new URL(edge.url).port);
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** Reads until the text, or until the end of the connection. */
async function until(socket: Socket, part: string | RegExp): Promise<string> {
  let received = '';
  const deadline = AbortSignal.timeout(WAIT_MS);
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  const closed = once(socket, 'close').then(() => true);
  while (received.search(part) < 0 && !deadline.aborted) {
    if (await Promise.race([closed, sleep(10, false)])) break;
  }
  return received;
}

const announced = `Content-Length: ${LARGE.length}`;

test.each([
  ['an unknown api key', () => ({ apiKey: randomUUID() }), 'Invalid svc-api-key'],
  [
    'an old timestamp',
    () => ({ apiKey: edge.client().credentials.apiKey, timestamp: 1 }),
    'svc-timestamp must be',
  ],
  [
    'an unknown path without a signature',
    () => ({ apiKey: randomUUID(), path: '/merchants/v1/none' }),
    'Invalid svc-api-key',
  ],
  ['an unknown path outside the merchant API', () => ({ apiKey: '', path: '/none' }), 'No such resource'],
] as [string, () => Head, string][])('%s is refused before the body is read', async (_, request, detail) => {
  edge = await startEdgeApp(db.database);
  const socket = await open();
  socket.write(head({ ...request(), more: [announced] }) + ' ');
  expect(await until(socket, detail)).toContain(detail);
});

test('100 Continue is sent only to a caller with a known API key', async () => {
  edge = await startEdgeApp(db.database);
  const more = ['Content-Length: 2', 'Expect: 100-continue', 'Content-Type: application/json'];
  const stranger = await open();
  stranger.write(head({ apiKey: randomUUID(), more }));
  const refusal = await until(stranger, 'Invalid svc-api-key');
  expect(refusal).toMatch(/^HTTP\/1.1 401 /);
  expect(refusal).toMatch(/^connection: close\r\n/im);
  const known = await open();
  known.write(head({ apiKey: edge.client().credentials.apiKey, more }));
  expect(await until(known, '100 Continue')).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\n$/);
  known.write('{}');
  expect(await until(known, 'string_to_sign_bytes')).toContain('401 Unauthorized');
});

test('a client of HTTP/1.0 gets no 100 Continue, which it would take for the response', async () => {
  edge = await startEdgeApp(db.database);
  const socket = await open();
  const more = ['Content-Length: 2', 'Expect: 100-continue'];
  socket.write(
    head({ apiKey: edge.client().credentials.apiKey, more }).replace('HTTP/1.1', 'HTTP/1.0') + '{}',
  );
  expect(await until(socket, 'string_to_sign_bytes')).toMatch(/^HTTP\/1.1 401 /);
});

// Other systems have only one loopback address.
onLinux(
  'an address with failed signatures is refused with 429, while other requests of the merchant pass',
  async () => {
    edge = await startEdgeApp(db.database, { RATE_LIMIT_PER_MINUTE: '1000' });
    const client = edge.client();
    const { apiKey } = client.credentials;
    const fails = async (address: string): Promise<string> => {
      const socket = await open(address);
      socket.write(head({ apiKey, more: [announced] }));
      socket.write(LARGE);
      return (await until(socket, /\]\}\r\n|\{\}\}/)).slice(9, 12);
    };
    // The test uses another address, and the merchant's.
    for (const address of ['127.0.0.3', '127.0.0.1']) {
      if (address === '127.0.0.1') expect((await client.post(PLAIN, {})).status).toBe(201);
      expect(await fails(address)).toBe('401');
      for (let i = 0; i < 5; i++) await fails(address);
      const next = await open(address);
      next.write(head({ apiKey, more: [announced] }));
      if (address === '127.0.0.3') {
        const refusal = await until(next, 'Rate limit exceeded');
        expect(refusal).toMatch(/^HTTP\/1.1 429 /);
        expect(refusal).toMatch(/^retry-after: \d+/im);
      } else {
        next.write(LARGE);
        expect(await until(next, 'Rate limit exceeded')).toMatch(/^HTTP\/1.1 429 /);
      }
      expect((await client.post(PLAIN, {})).status).toBe(201);
    }
  },
);

test('failed signatures from an address do not lock out a new merchant at that address', async () => {
  edge = await startEdgeApp(db.database, { RATE_LIMIT_PER_MINUTE: '1000' });
  const { apiKey } = edge.client().credentials;
  for (let i = 0; i < 5; i++) {
    const socket = await open();
    socket.write(head({ apiKey, more: [announced] }) + LARGE.toString());
    await until(socket, /\]\}\r\n|\{\}\}/);
  }
  const merchant = edge.client();
  expect((await merchant.post(PLAIN, LARGE_JSON)).status).toBe(429);
  expect((await merchant.post(PLAIN, {})).status).toBe(201);
  expect((await merchant.post(PLAIN, LARGE_JSON)).status).toBe(201);
});

test('bodies and responses share a limit; small requests are accepted, and all memory is released', async () => {
  edge = await startEdgeApp(db.database, { REQUEST_MEMORY_MIB: '16', RATE_LIMIT_PER_MINUTE: '1000' });
  const client = edge.client();
  const { apiKey } = client.credentials;
  expect((await client.post(PLAIN, {})).status).toBe(201);
  // The limit is a quarter, 4 MiB, which has no room for five unfinished bodies of nearly one each.
  const response = await Promise.race(
    await Promise.all(
      [1, 2, 3, 4, 5].map(async () => {
        const socket = await open();
        socket.write(head({ apiKey, more: [announced] }));
        socket.write(LARGE.subarray(1));
        return { responded: until(socket, '{}}') };
      }),
    ).then((all) => all.map(({ responded }) => responded)),
  );
  expect(response).toMatch(/^HTTP\/1.1 503 Service Unavailable\r\n/);
  expect(response).toMatch(/^retry-after: 1\r\n/im);
  expect(response).toMatch(/^content-type: application\/problem\+json/im);
  expect(response).toContain('"title":"Service unavailable","status":503');
  expect((await client.post(PLAIN, {})).status).toBe(201);

  sockets.splice(0).forEach((socket) => socket.destroy());
  await eventually(async () => (await client.post(PLAIN, LARGE_JSON)).status === 201);
  for (let i = 0; i < 20; i++) expect((await client.post(PLAIN, LARGE_JSON)).status).toBe(201);
});

test('a HEAD request with a large body and a wrong signature gets a response without a body', async () => {
  edge = await startEdgeApp(db.database);
  const socket = await open();
  const { apiKey } = edge.client().credentials;
  socket.write(head({ apiKey, method: 'HEAD', path: '/merchants/v1/probe/whoami', more: [announced] }));
  socket.write(LARGE);
  expect(await until(socket, '\r\n\r\n')).toMatch(/^HTTP\/1.1 401 [^]*\r\n\r\n$/);
  socket.write(`GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n`);
  expect(await until(socket, '\r\n\r\n')).toMatch(/^HTTP\/1.1 (200|404) /);
});

test('a body in chunks of one byte each is read like any other', async () => {
  edge = await startEdgeApp(db.database);
  const socket = await open();
  const { apiKey } = edge.client().credentials;
  socket.write(head({ apiKey, more: ['Transfer-Encoding: chunked'] }));
  socket.write(`${'1\r\n \r\n'.repeat(100_000)}0\r\n\r\n`);
  const response = await until(socket, ']}');
  expect(response).toContain('401 Unauthorized');
  expect(response.split(',32').length).toBeGreaterThan(99_999);
});

test('a list gets 429 before it is read if unread responses fill the memory share of its merchant', async () => {
  edge = await startEdgeApp(db.database, { REQUEST_MEMORY_MIB: '16' });
  const [client, another] = [edge.client(), edge.client()];
  const memory = edge.app.get(MemoryBudget, { strict: false });
  const merchant = edge.merchants.get(client.credentials.apiKey)!;
  const unread = Object.assign(new RequestState(), { merchant });
  memory.reserveResponse(unread, 4 << 20, false);
  const list = (of: SignedClient): ReturnType<SignedClient['get']> => of.get('/merchants/v1/probe/list');
  const refused = await list(client);
  expect([refused.status, refused.headers['retry-after'], edge.probe.runs]).toEqual([429, '1', 0]);
  expect((await list(another)).status).toBe(200);
  memory.release(unread);
  expect((await list(client)).status).toBe(200);
});

test('aborted requests release their memory', async () => {
  edge = await startEdgeApp(db.database, { REQUEST_MEMORY_MIB: '16', RATE_LIMIT_PER_MINUTE: '1000' });
  const client = edge.client();
  for (let round = 0; round < 20; round++) {
    edge.probe.hold();
    const runs = edge.probe.runs;
    const aborted = new AbortController();
    const call = client
      .call({ method: 'POST', path: '/merchants/v1/probe/slow', body: LARGE_JSON, signal: aborted.signal })
      .catch(() => undefined);
    await eventually(() => edge.probe.runs > runs);
    aborted.abort();
    await call;
    await sleep(20);
    edge.probe.release();
  }
  expect((await client.post(PLAIN, LARGE_JSON)).status).toBe(201);
});

test('pipelined requests behind a pending request release their memory when the client disconnects', async () => {
  edge = await startEdgeApp(db.database, { REQUEST_MEMORY_MIB: '16', RATE_LIMIT_PER_MINUTE: '1000' });
  // A leak would use up the whole share of the address.
  for (let round = 0; round < 2; round++) {
    const [slow, merchant] = [edge.client(), edge.client()];
    edge.probe.hold();
    const runs = edge.probe.runs;
    const socket = await open();
    socket.write(signedHead(slow.credentials, '/merchants/v1/probe/slow'));
    await eventually(() => edge.probe.runs > runs);
    // Their responses wait for that of the slow one.
    for (let i = 0; i < 2; i++) {
      socket.write(head({ apiKey: merchant.credentials.apiKey, more: [announced] }));
      socket.write(LARGE);
    }
    await sleep(500);
    socket.destroy();
    await sleep(100);
    edge.probe.release();
    expect(
      await Promise.race([merchant.post(PLAIN, LARGE_JSON), sleep(WAIT_MS, null, { ref: false })]),
    ).toMatchObject({
      status: 201,
    });
  }
});

function signedHead({ apiKey, privateKey }: SignedClient['credentials'], path: string): string {
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', privateKey).update(`${timestamp}\nPOST\n${path}\n`).digest('hex');
  return head({ apiKey, path, timestamp }).replace(WRONG, signature);
}
