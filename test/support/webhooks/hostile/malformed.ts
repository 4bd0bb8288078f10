import { responded, failed, onRequests, receiver, says, type HostileReceiver } from './receiver.js';

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
const notHttp = failed('response', /^the response is not HTTP\/1\.1( \([A-Za-z `'_-]+\))?$/);
const wrongLength = failed('response', /^the response is not as long as its Content-Length says/);
const closed = failed('response', /^the connection was closed \(UND_ERR_SOCKET\)$/);
/** Accepted or refused, as long as nothing worse comes of it. */
const either = [...responded(200), ...notHttp, ...wrongLength];

const malformed = (name: string, bytes: string | Buffer, expected = notHttp): HostileReceiver =>
  receiver(name, expected, says(bytes, 'end'));

/** Two deliveries: what follows the first response must not become the second's. */
const splits = (name: string, surplus: string, delayMs = 0): HostileReceiver =>
  receiver(name, [responded(200), responded(204)], (socket, host) =>
    onRequests(socket, host, () => {
      if (host.requests > 1) return void socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      socket.write(`${OK}content-length: 2\r\n\r\nok${delayMs === 0 ? surplus : ''}`);
      if (delayMs > 0) setTimeout(() => socket.write(surplus), delayMs);
    }),
  );

/** Header lines, and what is handed on to the schedule, which reads it. */
const RETRY_AFTER: readonly (readonly [name: string, lines: string, handedOn: string])[] = [
  ['blanks around seconds', 'retry-after:   7  \r\n', '7  '],
  ['nothing', 'retry-after: \r\n', ''],
  ['bytes beyond ASCII', 'retry-after: \xff\xfe\r\n', '\xff\xfe'],
  ['two fields', 'retry-after: 60\r\nretry-after: 3600\r\n', '60'],
];

/** Receivers that do not keep to HTTP/1.1, or try what confuses those who read it differently. */
export const MALFORMED: readonly HostileReceiver[] = [
  malformed('garbage before the status line', `\x00\x01\x02${OK}content-length: 0\r\n\r\n`),
  malformed('the banner of another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'),
  malformed('HTTP/0.9', '<html>hello</html>'),
  malformed('an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  malformed('HTTP/2 frames', Buffer.from('000012040000000000000300000064000400100000000600004000', 'hex')),
  malformed('a version of HTTP that does not exist', 'HTTP/7.3 200 OK\r\ncontent-length: 0\r\n\r\n'),
  malformed('a status of two digits', 'HTTP/1.1 99 Odd\r\ncontent-length: 0\r\n\r\n', [
    ...notHttp,
    ...closed,
  ]),
  malformed('a status of four digits', 'HTTP/1.1 2000 OK\r\ncontent-length: 0\r\n\r\n'),
  malformed('a status of 000', 'HTTP/1.1 000 Odd\r\ncontent-length: 0\r\n\r\n'),
  malformed('a status of 099', 'HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n'),
  malformed('a status of 199', 'HTTP/1.1 199 Odd\r\ncontent-length: 0\r\n\r\n', closed),
  malformed('a status of 999', 'HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n', responded(999)),
  malformed('a status of letters', 'HTTP/1.1 abc OK\r\ncontent-length: 0\r\n\r\n'),
  malformed('NUL in a header field', `${OK}x-a: a\0b\r\ncontent-length: 0\r\n\r\n`),
  malformed('CR in a header field', `${OK}x-a: a\rb\r\ncontent-length: 0\r\n\r\n`),
  malformed('a header field without a colon', `${OK}nonsense\r\ncontent-length: 0\r\n\r\n`),
  malformed('a space before a colon', `${OK}content-length : 0\r\n\r\n`),
  malformed('bare line feeds', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n', either),
  malformed('a folded header field', `${OK}x-a: a\r\n b\r\ncontent-length: 0\r\n\r\n`, either),
  malformed('names of built-in properties', `${OK}__proto__: a\r\nconstructor: b\r\n\r\n`, responded(200)),
  malformed('a Content-Length that is too long', `${OK}content-length: 50\r\n\r\nshort`, closed),
  malformed('a Content-Length below zero', `${OK}content-length: -1\r\n\r\n`),
  malformed('a Content-Length of letters', `${OK}content-length: five\r\n\r\nhello`),
  malformed(
    'a Content-Length beyond 64 bits',
    `${OK}content-length: 99999999999999999999\r\n\r\nhello`,
    wrongLength,
  ),
  malformed('two Content-Lengths', `${OK}content-length: 5\r\ncontent-length: 6\r\n\r\nhello!`, wrongLength),
  malformed('a list of Content-Lengths', `${OK}content-length: 5, 5\r\n\r\nhello`, wrongLength),
  malformed(
    'Content-Length alongside Transfer-Encoding',
    `${OK}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    either,
  ),
  malformed(
    'two Transfer-Encodings',
    `${OK}transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    either,
  ),
  malformed('an unknown Transfer-Encoding', `${OK}transfer-encoding: cow\r\n\r\nhello`, either),
  malformed('a chunk size beyond 64 bits', `${CHUNKED}fffffffffffffffff\r\nhello\r\n0\r\n\r\n`),
  malformed('a chunk size below zero', `${CHUNKED}-5\r\nhello\r\n0\r\n\r\n`),
  malformed('a chunk without its end', `${CHUNKED}2\r\nhello\r\n0\r\n\r\n`),
  malformed('a chunked response that stops', `${CHUNKED}5\r\nhel`, [...notHttp, ...closed]),
  malformed('100 Continue that was not requested', `HTTP/1.1 100 Continue\r\n\r\n${OK}\r\n`, closed),
  malformed(
    '101 Switching Protocols',
    'HTTP/1.1 101 S\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n',
    closed,
  ),
  malformed('an upgrade that was not requested', `${OK}connection: upgrade\r\nupgrade: h2c\r\n\r\n`, [
    ...responded(200),
    ...closed,
  ]),
  splits('a Content-Length that is too short', 'HTTP/1.1 500 Surplus\r\ncontent-length: 0\r\n\r\n'),
  splits('a second response that was not requested', 'HTTP/1.1 500 Poison\r\ncontent-length: 0\r\n\r\n', 20),
  splits('the beginning of a second response', 'HTTP/1.1 5', 20),
  splits('line breaks after its response', '\r\n'.repeat(50), 20),
  receiver(
    '204 with a body',
    [responded(204), responded(204)],
    says('HTTP/1.1 204 No Content\r\n\r\nsurplus'),
  ),
  receiver(
    'a header field that holds another response',
    [responded(302), responded(302)],
    says(
      'HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
    ),
  ),
  ...RETRY_AFTER.map(([name, lines, handedOn]) =>
    receiver(
      `503 with Retry-After: ${name}`,
      responded(503, handedOn),
      says(`HTTP/1.1 503 Later\r\n${lines}content-length: 0\r\n\r\n`),
    ),
  ),
];
