import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Agent, request } from 'undici';
import { expect, it, test } from '@jest/globals';
import { drainHttp } from '../../../src/platform/http/connections.js';
import { startEdgeApp } from '../../support/http/edge-app.js';
import { startTestApp } from '../../support/app.js';
import { eventually, WAIT_MS } from '../../support/eventually.js';
import { onTestDatabase } from '../../support/postgres.js';
import { specFolder } from '../../support/run-folder.js';

const db = onTestDatabase();

test('a process that drains under load cuts off no accepted request and soon ends idle connections', async () => {
  const edge = await startEdgeApp(db.database, { RATE_LIMIT_PER_IP_PER_MINUTE: '1000000' });
  const dispatcher = new Agent({ connections: 16, pipelining: 1 });
  let responded = 0;
  const failures: string[] = [];
  const refused = new AbortController();
  const work = Array.from({ length: 16 }, async () => {
    while (!refused.signal.aborted && failures.length < 20) {
      try {
        const { statusCode, body } = await request(`${edge.url}/health/live`, { dispatcher });
        await body.dump();
        if (statusCode === 200) responded += 1;
        else failures.push(String(statusCode));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ECONNREFUSED') refused.abort();
        else failures.push(String(code));
      }
    }
  });
  await eventually(() => responded >= 200);
  const started = performance.now();
  await drainHttp(edge.adapter.api, WAIT_MS);
  await edge.close();
  expect(performance.now() - started).toBeLessThan(WAIT_MS / 2);
  await Promise.all(work);
  expect(failures).toEqual([]);
  await dispatcher.destroy();
});

/** Opens `count` connections, sends a request on each, creates file `marker`, and prints the responses. */
const CLIENT = `
  const [port, marker, count] = process.argv.slice(1);
  const { connect } = require('node:net');
  let sent = 0;
  const ask = () => new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write('GET /health/live HTTP/1.1\\r\\nhost: test\\r\\nconnection: close\\r\\n\\r\\n', () => {
        if (++sent === Number(count)) require('node:fs').writeFileSync(marker, '');
      });
    });
    socket.on('data', (chunk) => (text += chunk));
    socket.on('error', (error) => resolve(error.code));
    socket.on('close', () => resolve(text.slice(9, 12)));
  });
  Promise.all(Array.from({ length: Number(count) }, ask)).then((all) => console.log(all.join()));
`;

/** Starts clients, and blocks this process until all have sent their requests. Resolves to their output. */
function clientsInQueue(url: string, count: number): Promise<string> {
  const marker = join(specFolder('drain'), String(count));
  const { port } = new URL(url);
  const client = spawn(process.execPath, ['-e', CLIENT, port, marker, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = text(client.stdout);
  // Blocks the event loop.
  const still = new Int32Array(new SharedArrayBuffer(4));
  for (let waits = 0; waits < 6000 && !existsSync(marker); waits += 1) Atomics.wait(still, 0, 0, 10);
  expect(existsSync(marker)).toBe(true);
  return printed;
}

const responses = (count: number): string => `${Array.from({ length: count }, () => '200').join()}\n`;

test('a client that waits in the queue of the listener when draining begins still gets its response', async () => {
  const edge = await startEdgeApp(db.database);
  const printed = clientsInQueue(edge.url, 10);
  await drainHttp(edge.adapter.api, WAIT_MS);
  await edge.close();
  expect(await printed).toBe(responses(10));
});

// Linux queues 4096 connections; other systems fewer.
(process.platform === 'linux' ? it : it.skip)(
  'clients that connect at once while the process is busy get their responses afterwards',
  async () => {
    const service = await startTestApp();
    // More than the 511 connections that Node queues by default.
    expect(await clientsInQueue(service.url, 1200)).toBe(responses(1200));
    await service.close();
  },
);

test('a request that arrives while a draining process stalls still gets its response', async () => {
  const edge = await startEdgeApp(db.database);
  const socket = connect(Number(new URL(edge.url).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  const send = (): boolean => socket.write('GET /health/live HTTP/1.1\r\nhost: test\r\n\r\n');
  const responded = (count: number) => eventually(() => received.split('HTTP/1.1 200').length === count + 1);
  send();
  await responded(1);
  const closed = once(socket, 'close');
  const drained = drainHttp(edge.adapter.api, WAIT_MS);
  await eventually(() => !edge.adapter.api.server.listening);
  // Timers run next, before sockets are read.
  await new Promise((resolve) => setImmediate(resolve));
  send();
  // Longer than the linger of idle connections, whose end is due with the request.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  await closed;
  await responded(2);
  await drained;
  await edge.close();
});

test('a process that drains waits for a request in flight up to the grace period', async () => {
  const edge = await startEdgeApp(db.database);
  const client = edge.client();
  edge.probe.hold();
  const slow = client.post('/merchants/v1/probe/slow', {});
  await eventually(() => edge.probe.runs > 0);
  const drained = drainHttp(edge.adapter.api, WAIT_MS);
  setTimeout(() => edge.probe.release(), 800);
  const response = await slow;
  expect(response.status).toBe(201);
  expect(response.headers['connection']).toBe('close');
  await drained;
  await edge.close();
});

test('a request that never ends is cut off after the grace period', async () => {
  const edge = await startEdgeApp(db.database);
  edge.probe.hold();
  const hanging = edge
    .client()
    .post('/merchants/v1/probe/slow', {})
    .catch((error: Error) => error);
  await eventually(() => edge.probe.runs > 0);
  await drainHttp(edge.adapter.api, 700);
  expect(await hanging).toBeInstanceOf(Error);
  edge.probe.release();
  await edge.close();
});
