import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, test } from '@jest/globals';
import {
  CONNECTION_DEFAULTS,
  guardConnections,
  type ConnectionGuard,
} from '../../../src/platform/http/connections.js';
import { eventually, WAIT_MS } from '../../support/eventually.js';

/** A case about all of 127.0.0.0/8, which Linux alone has. */
const onLinux = process.platform === 'linux' ? it : it.skip;

/** More than all buffers between the two ends take. */
const LARGE = Buffer.alloc(32 << 20);
function* pieces(): Iterable<Buffer> {
  for (let at = 0; at < LARGE.length; at += 1 << 16) yield LARGE.subarray(at, at + (1 << 16));
}

const GET = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

let server: Server;
let guard: ConnectionGuard;
let port: number;
let now: number;
const clients: Socket[] = [];
/** The server's ends of the connections. */
const ends: Socket[] = [];

async function start(bounds: Partial<Parameters<typeof guardConnections>[1]> = {}): Promise<void> {
  guard = guardConnections(server, { ...CONNECTION_DEFAULTS, max: 100, maxPerAddress: 100, ...bounds });
  server.on('connection', (socket: Socket) => ends.push(socket));
  now = performance.now();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  port = (server.address() as AddressInfo).port;
}

async function client(localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
  socket.on('error', () => undefined);
  clients.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** Whether the server closes the connection; bytes that come before are read and counted. */
async function closed(socket: Socket): Promise<boolean> {
  socket.resume();
  const end = new Promise<boolean>((resolve) => {
    for (const event of ['end', 'close']) socket.once(event, () => resolve(true));
  });
  return Promise.race([end, sleep(WAIT_MS, false, { ref: false })]);
}

const opened = (): Promise<number> =>
  new Promise((resolve) => server.getConnections((_, count) => resolve(count)));

/** The check of all connections, so much later than the one before. */
const sweepAfter = (ms: number): void => guard.sweep((now += ms));

const openBecomes = (count: number): Promise<true> => eventually(async () => (await opened()) === count);

describe('a guarded listener', () => {
  beforeEach(() => {
    server = createServer((request, response) => {
      if (request.url === '/large') response.end(LARGE);
      else if (request.url === '/pieces') Readable.from(pieces()).pipe(response);
      else if (request.url === '/never') request.resume();
      else response.end('small');
    });
  });
  afterEach(() => {
    clients.splice(0).forEach((socket) => socket.destroy());
    ends.length = 0;
    server.closeAllConnections();
    server.close();
  });

  test('destroys a connection whose client does not take its response, whatever it sends meanwhile', async () => {
    await start();
    const silent = await client();
    silent.write(GET('/large'));
    const talking = await client();
    talking.write(GET('/large'));
    await eventually(() => ends.length === 2 && ends.every(({ writableLength }) => writableLength > 0));
    // Buffers of the system take bytes for a moment longer.
    await eventually(() => {
      talking.write('G');
      sweepAfter(CONNECTION_DEFAULTS.stallMs);
      return ends.every(({ destroyed }) => destroyed);
    });
    await openBecomes(0);
  });

  test('leaves alone who takes a response bit by bit, who waits for one, and who is idle', async () => {
    // Node closes an idle connection after five seconds.
    server.keepAliveTimeout = WAIT_MS;
    await start({ minDrained: 1 });
    const [slow, waiting, idle] = [await client(), await client(), await client()];
    waiting.write(GET('/never'));
    idle.write(GET('/'));
    slow.write(GET('/pieces'));
    let [read, goal] = [0, 0];
    slow.on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (read >= goal) slow.pause();
    });
    const end = ends.find(({ remotePort }) => remotePort === slow.localPort)!;
    const drained = (): number => end.bytesWritten - end.writableLength;
    for (const part of [1, 2, 3, 4, 5, 6]) {
      const before = drained();
      // Large enough that the system makes place for more.
      goal = (LARGE.length * part) / 10;
      slow.resume();
      await eventually(() => read >= goal && drained() > before);
      sweepAfter(CONNECTION_DEFAULTS.stallMs);
    }
    expect(await opened()).toBe(3);
  });

  // Elsewhere the loopback has one address only.
  onLinux('closes what is above the bound of one address, and takes others', async () => {
    await start({ maxPerAddress: 2 });
    const [first] = [await client(), await client()];
    expect(await closed(await client())).toBe(true);
    const other = await client('127.0.0.2');
    other.write(GET('/'));
    expect(String((await once(other, 'data'))[0])).toContain('200 OK');
    first.destroy();
    await openBecomes(2);
    const next = await client();
    next.write(GET('/'));
    expect(String((await once(next, 'data'))[0])).toContain('200 OK');
  });

  test('makes place for new connections by closing idle ones when the process has too many', async () => {
    await start({ max: 2 });
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

  test('lets a client pipeline, but not pile up', async () => {
    await start({ maxPending: 8 });
    const few = await client();
    few.write(GET('/never').repeat(8));
    const many = await client();
    many.write(GET('/never').repeat(9));
    expect(await closed(many)).toBe(true);
    const responded = await client();
    for (let i = 0; i < 5; i++) {
      responded.write(GET('/').repeat(8));
      await once(responded, 'data');
    }
    expect(await opened()).toBe(2);
  });

  test('does not wait for ever for a client to go', async () => {
    server.on('clientError', (_, socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await start();
    const garbage = await client();
    garbage.write('garbage\r\n\r\n');
    expect(await closed(garbage)).toBe(true);
    await eventually(() => {
      sweepAfter(CONNECTION_DEFAULTS.lingerMs);
      return ends.every(({ destroyed }) => destroyed);
    });
  });
});
