import {
  broken,
  responded,
  drips,
  failed,
  onRequests,
  receiver,
  says,
  type HostileReceiver,
} from './receiver.js';

const waiting = failed('timeout', /^timed out after [0-9.]+ s, waiting for a response$/);
const reading = broken(200, /^timed out after [0-9.]+ s, reading the response$/);
const OK = 'HTTP/1.1 200 OK\r\n';
const LETTERS = 'HTTP/1.1 200 O';

/** Slow receivers. Only the overall deadline ends them. */
export const SLOW: readonly HostileReceiver[] = [
  receiver('accepts and never responds', waiting, (socket) => socket.resume()),
  receiver('accepts and never reads', waiting, () => undefined),
  receiver(
    'drips its status line',
    waiting,
    drips('', (index) => LETTERS[index] ?? 'K'),
  ),
  receiver(
    'drips its header',
    waiting,
    drips(OK, (index) => `x-${index}: 1\r\n`),
  ),
  receiver(
    'drips one header field',
    waiting,
    drips(`${OK}x-slow: `, () => 'a'),
  ),
  receiver(
    'drips its body',
    reading,
    drips(`${OK}content-length: 1000000\r\n\r\n`, () => '.'),
  ),
  receiver(
    'drips its chunks',
    reading,
    drips(`${OK}transfer-encoding: chunked\r\n\r\n`, () => '1\r\n.\r\n'),
  ),
  receiver(
    'drips the size of a chunk',
    reading,
    drips(`${OK}transfer-encoding: chunked\r\n\r\n`, () => '0'),
  ),
  receiver(
    'drips its trailer',
    reading,
    drips(`${OK}transfer-encoding: chunked\r\n\r\n0\r\n`, (index) => `x-${index}: 1\r\n`),
  ),
  receiver(
    'drips informational responses',
    waiting,
    drips('', () => 'HTTP/1.1 102 Processing\r\n\r\n'),
  ),
  receiver(
    'drips line breaks before its response',
    waiting,
    drips('', () => '\r\n'),
  ),
  receiver(
    'responds without a length and never closes',
    reading,
    says(`${OK}connection: close\r\n\r\nhello`),
  ),
  receiver('promises more than it sends and never closes', reading, says(`${OK}content-length: 5\r\n\r\nhi`)),
  receiver(
    'responds after the deadline, while the next delivery waits',
    [waiting, responded(204)],
    (socket, host) =>
      onRequests(socket, host, () => {
        if (host.requests > 1) socket.write('HTTP/1.1 204 No Content\r\n\r\n');
        else socket.on('end', () => socket.write(`${OK}content-length: 4\r\n\r\nlate`));
      }),
  ),
];
