import { connect, createServer, type Server, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import {
  responded,
  close,
  failed,
  listen,
  onRequests,
  receiver,
  says,
  type HostileReceiver,
} from './receiver.js';

const notSent = failed('send', /^the (connection was (closed|reset)|host closed the connection)/);
const noResponse = failed('response', /^the connection was (closed|reset)/);
const OK = 'HTTP/1.1 200 OK\r\n';

/** Listens and then never runs again: the system accepts what fits into the backlog, and no more. */
const BLOCKED = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });`;

const neverAccepts: HostileReceiver = {
  name: 'never accepts beyond its backlog',
  expected: [failed('timeout', /, connecting$/)],
  async start() {
    const worker = new Worker(BLOCKED, { eval: true });
    const port = await new Promise<number>((resolve) => worker.once('message', resolve));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const fillers = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    await new Promise((resolve) => setTimeout(resolve, 50));
    return {
      url: `http://127.0.0.1:${port}/hooks/secret-path?token=secret-token`,
      open: () => 0,
      connections: () => 0,
      sent: () => 0,
      complaint: () => null,
      stop: async () => {
        for (const filler of fillers) filler.destroy();
        await worker.terminate();
      },
    };
  },
};

const refuses: HostileReceiver = {
  name: 'refuses connections',
  expected: [failed('connect', /^the connection was refused \(ECONNREFUSED\)$/)],
  async start() {
    const server = createServer();
    const url = await listen(server, false);
    await close(server, []);
    const none = (): number => 0;
    return {
      url,
      open: none,
      connections: none,
      sent: none,
      complaint: () => null,
      stop: async () => undefined,
    };
  },
};

/** Redirects to a listener that may not be reached. */
function redirects(name: string, status: number): HostileReceiver {
  return {
    name,
    expected: [responded(status)],
    async start(certificates) {
      let reached = 0;
      const inside: Server = createServer((socket: Socket) => {
        reached += 1;
        socket.destroy();
      });
      const location = await listen(inside, false);
      const response = `HTTP/1.1 ${status} Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`;
      const outside = await receiver(name, responded(status), says(response)).start(certificates);
      return {
        ...outside,
        complaint: () => (reached > 0 ? 'the redirect was followed' : null),
        stop: async () => {
          await Promise.all([outside.stop(), close(inside, [])]);
        },
      };
    },
  };
}

/** Receivers that break connections, or point elsewhere. */
export const CONNECTIONS: readonly HostileReceiver[] = [
  neverAccepts,
  refuses,
  receiver('closes at once', notSent, (socket) => socket.end()),
  receiver('resets at once', [...notSent, ...failed('connect', /^the connection was reset/)], (socket) =>
    socket.resetAndDestroy(),
  ),
  receiver('closes after the request', notSent, says('', 'end')),
  receiver('resets after the request', notSent, says('', 'reset')),
  receiver('closes its half and continues to read', notSent, (socket) => {
    socket.resume();
    socket.end();
  }),
  receiver('closes within its header', noResponse, says(`${OK}content-le`, 'end')),
  receiver('resets within its header', noResponse, says(`${OK}content-le`, 'reset')),
  receiver('resets within its response', noResponse, says(`${OK}content-length: 100\r\n\r\nhalf`, 'reset')),
  receiver(
    'speaks before the request',
    [
      ...responded(503),
      ...failed('response', /^the (host sent something before the request|connection was)/),
    ],
    (socket) => socket.end('HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n'),
  ),
  receiver('responds before it has read the request', responded(413), (socket) =>
    socket.once('data', () => {
      socket.pause();
      socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    }),
  ),
  receiver('says that it closes and does not', [responded(200), responded(200)], (socket) =>
    onRequests(socket, () => socket.write(`${OK}content-length: 0\r\nconnection: close\r\n\r\n`)),
  ),
  receiver('closes a kept connection without a word', [responded(200), responded(200)], (socket) =>
    onRequests(socket, () => {
      socket.write(`${OK}content-length: 0\r\nkeep-alive: timeout=600\r\n\r\n`);
      setTimeout(() => socket.destroy(), 20);
    }),
  ),
  receiver(
    'redirects to itself',
    responded(307),
    says('HTTP/1.1 307 Loop\r\nlocation: /\r\ncontent-length: 0\r\n\r\n'),
  ),
  ...[301, 302, 303, 307, 308].map((status) =>
    redirects(`redirects to an internal address with ${status}`, status),
  ),
];
