import {
  broken,
  responded,
  failed,
  onRequests,
  receiver,
  says,
  type Expected,
  type HostileReceiver,
} from './receiver.js';

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
const NOT_HTTP = /^the response is not HTTP\/1\.1( \([A-Za-z `'_-]+\))?$/;
const CLOSED = /^the connection was closed \(UND_ERR_SOCKET\)$/;
const notHttp = failed('response', NOT_HTTP);
const closed = failed('response', CLOSED);
/** Expects a complete header with 200 that undici refuses, or whose following bytes it refuses. */
const refused = broken(200, NOT_HTTP);
const wrongLength = broken(200, /^the response is not as long as its Content-Length says/);
const stops = broken(200, CLOSED);
const either = [...responded(200), ...refused, ...wrongLength];

const malformed = (name: string, bytes: string | Buffer, expected = notHttp): HostileReceiver =>
  receiver(name, expected, says(bytes, 'end'));

/** Expects two deliveries, of which the second must not get bytes after the first response. */
const splits = (name: string, surplus: string, delayMs = 0): HostileReceiver =>
  receiver(name, [responded(200), responded(204)], (socket, host) =>
    onRequests(socket, host, () => {
      if (host.requests > 1) return void socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      socket.write(`${OK}content-length: 2\r\n\r\nok${delayMs === 0 ? surplus : ''}`);
      if (delayMs > 0) setTimeout(() => socket.write(surplus), delayMs);
    }),
  );

/** Header lines, and the value that the retry schedule gets. */
const RETRY_AFTER: readonly (readonly [name: string, lines: string, handedOn: string])[] = [
  ['blanks around seconds', 'retry-after:   7  \r\n', '7  '],
  ['nothing', 'retry-after: \r\n', ''],
  ['bytes beyond ASCII', 'retry-after: \xff\xfe\r\n', '\xff\xfe'],
  ['two fields', 'retry-after: 60\r\nretry-after: 3600\r\n', '60'],
];

const ok = responded(200);
const LENGTH = 'content-length: 5\r\n';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n';
const NO_CONTENT = 'HTTP/1.1 204 No Content\r\n';

/** Responses of servers in public bug reports. */
const REPORTED: readonly (readonly [name: string, bytes: string, expected: readonly Expected[]])[] = [
  ['two equal Content-Lengths', `${OK}${LENGTH}${LENGTH}\r\nhello`, wrongLength],
  [
    'Transfer-Encoding alongside a length',
    `${CHUNKED.slice(0, -2)}${LENGTH}\r\n5\r\nhello\r\n0\r\n\r\n`,
    refused,
  ],
  ['a control character in a field', `${OK}set-cookie: a\x01b\r\n${LENGTH}\r\nhello`, refused],
  ['a bare line feed after the status', `HTTP/1.1 200 OK\n${LENGTH}\r\nhello`, refused],
  ['no reason', `HTTP/1.1 200\r\n${LENGTH}\r\nhello`, ok],
  ['an empty Content-Length', `${OK}content-length:\r\n\r\nhello`, refused],
  ['a Content-Length with a plus', `${OK}content-length: +5\r\n\r\nhello`, refused],
  [
    'a field on many lines',
    `${OK}content-security-policy:\r\n  default-src 'self';\r\n\tframe-src *\r\n${LENGTH}\r\nhello`,
    either,
  ],
  ['a folded line of blanks', `${OK}x-a: a\r\n \t\r\n${LENGTH}\r\nhello`, either],
  ['many 100 Continue', `${CONTINUE}\r\n${CONTINUE}\r\n${OK}${LENGTH}\r\nhello`, ok],
  [
    '100 Continue with fields',
    `HTTP/1.1 100\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n${OK}${LENGTH}\r\nhello`,
    ok,
  ],
  ['100 Continue that closes', `${CONTINUE}connection: close\r\n\r\n${OK}${LENGTH}\r\nhello`, either],
  ['100 Continue over HTTP/1.0', `HTTP/1.0 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\n\r\nhello`, either],
  [
    '100, 102 and 103 before 204',
    `${CONTINUE}\r\nHTTP/1.1 102 Wait\r\n\r\nHTTP/1.1 103 Hints\r\nlink: a\r\n\r\n${NO_CONTENT}\r\n`,
    responded(204),
  ],
  ['100 Continue and nothing else', `${CONTINUE}\r\n`, closed],
  ['101 before 200', `HTTP/1.1 101 S\r\n\r\n${OK}${LENGTH}\r\nhello`, [...closed, ...notHttp]],
  ['204 with a length and a body', `${NO_CONTENT}${LENGTH}\r\nhello`, broken(204, /./)],
  ['204 with a length alone', `${NO_CONTENT}${LENGTH}\r\n`, broken(204, /./)],
  ['204 in chunks', `${NO_CONTENT}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`, responded(204)],
  ['205 with a body', `HTTP/1.1 205 Reset\r\n${LENGTH}\r\nhello`, responded(205)],
  ['HTTP/1.0 without a length', 'HTTP/1.0 200 OK\r\n\r\nhello', ok],
  ['HTTP/1.0 in chunks', `HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`, ok],
  ['neither a length nor Connection: close', `${OK}\r\nhello`, ok],
  ['bytes after Connection: close', `${OK}connection: close\r\n${LENGTH}\r\nhello again`, ok],
  ['an unknown Content-Encoding', `${OK}content-encoding: cow\r\n${LENGTH}\r\nhello`, ok],
  ['gzip that is broken', `${OK}content-encoding: gzip\r\n${LENGTH}\r\n\x1f\x8b\x08ab`, ok],
  ['a chunk size that is no number', `${CHUNKED}five\r\nhello\r\n0\r\n\r\n`, refused],
  ['chunks with bare line feeds', `${CHUNKED}5\nhello\n0\n\n`, refused],
  ['a chunk size with blanks', `${CHUNKED}5   \r\nhello\r\n0\r\n\r\n`, either],
  ['no last chunk', `${CHUNKED}5\r\nhello\r\n`, [...refused, ...stops]],
  ['a trailer without a colon', `${CHUNKED}5\r\nhello\r\n0\r\nnonsense\r\n\r\n`, refused],
  ['a trailer that stops', `${CHUNKED}5\r\nhello\r\n0\r\nx-a: 1\r\n`, [...refused, ...stops]],
  [
    '410 with two equal Content-Lengths',
    `HTTP/1.1 410 Gone\r\n${LENGTH}${LENGTH}\r\nhello`,
    broken(410, /./),
  ],
  ['500 that stops', `HTTP/1.1 500 Oops\r\n${LENGTH}\r\nhe`, broken(500, CLOSED)],
  [
    '503 with Retry-After and two equal Content-Lengths',
    `HTTP/1.1 503 Later\r\n${LENGTH}${LENGTH}Retry-After: 60\r\n\r\nhello`,
    [{ status: 503, retryAfter: '60', error: /./ }],
  ],
  ['200 without the end of its header', `${OK}${LENGTH}`, closed],
  [
    'a refused header without its end',
    `${OK}${LENGTH}${LENGTH}`,
    [...closed, ...failed('response', /^the response is not/)],
  ],
];

/** Receivers that violate HTTP/1.1, or exploit differences between parsers. */
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
  malformed('NUL in a header field', `${OK}x-a: a\0b\r\ncontent-length: 0\r\n\r\n`, refused),
  malformed('CR in a header field', `${OK}x-a: a\rb\r\ncontent-length: 0\r\n\r\n`, refused),
  malformed('a header field without a colon', `${OK}nonsense\r\ncontent-length: 0\r\n\r\n`, refused),
  malformed('a space before a colon', `${OK}content-length : 0\r\n\r\n`, refused),
  malformed('bare line feeds', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n', either),
  malformed('a folded header field', `${OK}x-a: a\r\n b\r\ncontent-length: 0\r\n\r\n`, either),
  malformed('names of built-in properties', `${OK}__proto__: a\r\nconstructor: b\r\n\r\n`, responded(200)),
  malformed('a Content-Length that is too long', `${OK}content-length: 50\r\n\r\nshort`, stops),
  malformed('a Content-Length below zero', `${OK}content-length: -1\r\n\r\n`, refused),
  malformed('a Content-Length of letters', `${OK}content-length: five\r\n\r\nhello`, refused),
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
  malformed('a chunk size beyond 64 bits', `${CHUNKED}fffffffffffffffff\r\nhello\r\n0\r\n\r\n`, refused),
  malformed('a chunk size below zero', `${CHUNKED}-5\r\nhello\r\n0\r\n\r\n`, refused),
  malformed('a chunk without its end', `${CHUNKED}2\r\nhello\r\n0\r\n\r\n`, refused),
  malformed('a chunked response that stops', `${CHUNKED}5\r\nhel`, [...refused, ...stops]),
  malformed('100 Continue that was not requested', `HTTP/1.1 100 Continue\r\n\r\n${OK}\r\n`, responded(200)),
  malformed(
    '101 Switching Protocols',
    'HTTP/1.1 101 S\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n',
    closed,
  ),
  malformed(
    'an upgrade that was not requested',
    `${OK}connection: upgrade\r\nupgrade: h2c\r\n\r\n`,
    responded(200),
  ),
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
  ...REPORTED.map(([name, bytes, expected]) => malformed(name, Buffer.from(bytes, 'latin1'), expected)),
  ...RETRY_AFTER.map(([name, lines, handedOn]) =>
    receiver(
      `503 with Retry-After: ${name}`,
      responded(503, handedOn),
      says(`HTTP/1.1 503 Later\r\n${lines}content-length: 0\r\n\r\n`),
    ),
  ),
];
