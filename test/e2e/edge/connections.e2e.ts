import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Listener } from '../../../src/platform/http/connections.js';
import { eventually, WAIT_MS } from '../../support/eventually.js';

const GET = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

let server: Server;
let port: number;
const clients: Socket[] = [];
/** The server's ends of the connections. */
const ends: Socket[] = [];

async function start(maxConnections = 100): Promise<void> {
  new Listener(server, maxConnections);
  server.on('connection', (socket: Socket) => ends.push(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  port = (server.address() as AddressInfo).port;
}

async function client(): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  clients.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** Resolves to true once the server closes the connection, to false if it does not in time. */
async function closed(socket: Socket): Promise<boolean> {
  socket.resume();
  const end = new Promise<boolean>((resolve) => {
    for (const event of ['end', 'close']) socket.once(event, () => resolve(true));
  });
  return Promise.race([end, sleep(WAIT_MS, false, { ref: false })]);
}

const opened = (): Promise<number> =>
  new Promise((resolve) => server.getConnections((_, count) => resolve(count)));

const openBecomes = (count: number): Promise<true> => eventually(async () => (await opened()) === count);

describe('a guarded listener', () => {
  beforeEach(() => {
    server = createServer((request, response) => {
      if (request.url === '/never') request.resume();
      else response.end('small');
    });
  });
  afterEach(() => {
    clients.splice(0).forEach((socket) => socket.destroy());
    ends.length = 0;
    server.closeAllConnections();
    server.close();
  });

  test('destroys a connection with more than 32 requests without a response', async () => {
    await start();
    const piling = await client();
    piling.write(GET('/never').repeat(32));
    await eventually(() => ends[0]!.bytesRead === 32 * GET('/never').length);
    expect(ends[0]!.destroyed).toBe(false);
    piling.write(GET('/never'));
    await eventually(() => ends[0]!.destroyed);
  });

  test('closes idle connections when there are too many, so that later connections are accepted', async () => {
    await start(2);
    for (const each of [await client(), await client()]) {
      each.write(GET('/'));
      await once(each, 'data');
    }
    expect(await closed(await client())).toBe(true);
    await openBecomes(0);
    const next = await client();
    next.write(GET('/'));
    expect(String((await once(next, 'data'))[0])).toContain('200 OK');
  });

  test('closes all pending responses of a connection when that connection ends', async () => {
    const left: string[] = [];
    server.prependListener('request', ({ url }, response) => response.on('close', () => left.push(url!)));
    await start();
    const pipelining = await client();
    pipelining.write(GET('/never').repeat(3));
    await eventually(() => ends[0]!.bytesRead === 3 * GET('/never').length);
    pipelining.destroy();
    await eventually(() => left.length === 3);
  });
});
