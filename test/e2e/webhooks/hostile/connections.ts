import { broken, responded, failed, onRequests, receiver, says, type HostileReceiver } from './receiver.js';

const notSent = failed('send', /^the (connection was (closed|reset)|host closed the connection)/);
const noResponse = failed('response', /^the connection was (closed|reset)/);
const OK = 'HTTP/1.1 200 OK\r\n';

export const CONNECTIONS: readonly HostileReceiver[] = [
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
  receiver(
    'resets within its response',
    broken(200, /^the connection was (closed|reset)/),
    says(`${OK}content-length: 100\r\n\r\nhalf`, 'reset'),
  ),
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
  receiver('says that it closes and does not', [responded(200), responded(200)], (socket, host) =>
    onRequests(socket, host, () => socket.write(`${OK}content-length: 0\r\nconnection: close\r\n\r\n`)),
  ),
  receiver('closes a kept connection without a word', [responded(200), responded(200)], (socket, host) =>
    onRequests(socket, host, () => {
      socket.write(`${OK}content-length: 0\r\nkeep-alive: timeout=600\r\n\r\n`);
      setTimeout(() => socket.destroy(), 20);
    }),
  ),
  ...[301, 302, 303, 307, 308].map((status) =>
    receiver(
      `redirects with ${status}`,
      responded(status),
      says(`HTTP/1.1 ${status} Moved\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n`),
    ),
  ),
];
