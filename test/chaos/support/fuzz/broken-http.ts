import type { Random } from './random.js';
import { apiRequest, widgetRequest, type FuzzedRequest } from './requests.js';
import type { World } from './world.js';

/** Bytes for a connection of their own. */
export interface BrokenHttp {
  readonly port: 'api' | 'widget';
  readonly name: string;
  /** Written one after the other, each when the one before has left. */
  readonly writes: readonly Buffer[];
  /** Nothing follows and nothing is closed: the service has to end the connection by itself. */
  readonly silent: boolean;
}

/** How many of those connections stay open in silence: each holds one of the suite's for half a minute. */
const SILENT = 1 / 400;
const MOST_HEADERS = 3000;

type Breaker = (request: Pieces, random: Random, world: World) => readonly (Buffer | string)[];

/** A valid request in the parts that can be broken. */
interface Pieces {
  readonly line: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

const head = ({ line, headers }: Pieces, ...more: readonly string[]): string =>
  `${[line, ...headers, ...more].join('\r\n')}\r\n\r\n`;
const whole = (request: Pieces): Buffer =>
  Buffer.concat([Buffer.from(framed(request), 'latin1'), request.body]);
const framed = (request: Pieces): string => head(request, `content-length: ${request.body.length}`);

const LENGTHS = [
  '-1',
  '+5',
  '0x5',
  '5 5',
  '',
  '1e3',
  '18446744073709551616',
  '9'.repeat(400),
  '5, 5',
  '5\r\ncontent-length: 6',
];
const CHUNKS = [
  ...[
    'zz\r\n',
    '-1\r\nx\r\n',
    '5\r\nab',
    'ffffffffffffffff\r\nx',
    '1\r\nab\r\n0\r\n\r\n',
    '0\r\n\r\n',
    '0\r\nx: y\r\n\r\n',
  ],
  ...[
    '1;a=b\r\nx\r\n0\r\n\r\n',
    `1;${'a'.repeat(20_000)}\r\nx\r\n`,
    '1\nx\n0\n\n',
    '0\r\n' + 'a: b\r\n'.repeat(3000) + '\r\n',
  ],
  ...[
    '1\r\nx\r\n'.repeat(2000) + '0\r\n\r\n',
    ' 1\r\nx\r\n0\r\n\r\n',
    '1 \r\nx\r\n0\r\n\r\n',
    '+1\r\nx\r\n0\r\n\r\n',
  ],
];
const LINES = [
  ...[
    'GET /',
    'GET / HTTP/0.9',
    'GET / HTTP/1.0',
    'GET / HTTP/2.0',
    'GET / HTTP/1.1 x',
    'GET  / HTTP/1.1',
    ' GET / HTTP/1.1',
  ],
  ...[
    'get / HTTP/1.1',
    'FOO / HTTP/1.1',
    'GET * HTTP/1.1',
    'OPTIONS * HTTP/1.1',
    'CONNECT 127.0.0.1:9 HTTP/1.1',
  ],
  ...[
    'GET http://127.0.0.1:9/health/live HTTP/1.1',
    'GET http://[ HTTP/1.1',
    'GET //x HTTP/1.1',
    'GET /\u0000 HTTP/1.1',
  ],
  ...[
    'GET /\u00ff\u00fe HTTP/1.1',
    'GET /a\tb HTTP/1.1',
    'GET /a\rb HTTP/1.1',
    'GET ?x HTTP/1.1',
    'GET # HTTP/1.1',
    'GET',
  ],
  ...[
    `GET /${'a'.repeat(100_000)} HTTP/1.1`,
    `${'A'.repeat(20_000)} / HTTP/1.1`,
    'PRI * HTTP/2.0',
    '\u0016\u0003\u0001\u0002\u0000',
  ],
];
const HEADERS = [
  ...[
    'no colon',
    ': no name',
    'a b: c',
    'x : y',
    ' folded',
    'x: a\r\n\tfolded',
    'x: \u0000',
    'x: \u0001\u0007',
    'x: a\nb: c',
    'x: a\rb',
  ],
  ...[
    'host: a\r\nhost: b',
    'host:',
    'host: [',
    'transfer-encoding: chunked, gzip',
    'transfer-encoding: identity',
    'connection: x,,;',
  ],
  ...[
    'expect: 100-continue',
    'expect: 200-ok',
    'upgrade: websocket\r\nconnection: upgrade',
    'upgrade: h2c\r\nconnection: upgrade, http2-settings',
  ],
  ...[
    'keep-alive: timeout=-1',
    'content-length: 0\r\ntransfer-encoding: chunked',
    '\u00ff: \u00ff',
    '__proto__: x',
    'constructor: y',
  ],
  ...[`x: ${'y'.repeat(70_000)}`, `${'x'.repeat(70_000)}: y`],
];

const BREAKERS: Readonly<Record<string, Breaker>> = {
  'cut off': (request, random) => {
    const bytes = whole(request);
    return [bytes.subarray(0, random.below(bytes.length))];
  },
  'flipped bytes': (request, random) => {
    const bytes = whole(request);
    for (let flips = 1 + random.size(20); flips > 0; flips -= 1)
      bytes[random.below(bytes.length)] = random.below(256);
    return [bytes];
  },
  'content-length': (request, random) => [
    head(request, `content-length: ${random.pick(LENGTHS)}`),
    request.body,
  ],
  'wrong length': (request, random) => [
    head(request, `content-length: ${Math.max(0, request.body.length + random.below(200) - 100)}`),
    request.body,
  ],
  'both lengths': (request) => [
    head(request, `content-length: ${request.body.length}`, 'transfer-encoding: chunked'),
    `${request.body.length.toString(16)}\r\n`,
    request.body,
    '\r\n0\r\n\r\n',
  ],
  chunks: (request, random) => [
    head(request, 'transfer-encoding: chunked'),
    random.pick(CHUNKS),
    random.pick(CHUNKS),
  ],
  'request line': (request, random) => [framed({ ...request, line: random.pick(LINES) }), request.body],
  'header line': (request, random) => {
    const at = random.below(request.headers.length + 1);
    const headers = [...request.headers.slice(0, at), random.pick(HEADERS), ...request.headers.slice(at)];
    return [framed({ ...request, headers }), request.body];
  },
  'many headers': (request, random) => {
    const count = random.size(MOST_HEADERS);
    return [
      framed({
        ...request,
        headers: [...request.headers, ...Array.from({ length: count }, (_, n) => `x-${n}: y`)],
      }),
      request.body,
    ];
  },
  'without host': (request) => [framed({ ...request, headers: request.headers.slice(1) }), request.body],
  pipelined: (request, random, world) =>
    Array.from({ length: 1 + random.size(40) }, () =>
      whole(random.chance(0.1) ? request : pieces(fuzzed(random, world))),
    ),
  dripped: (request, random) => {
    const bytes = whole(request).subarray(0, 4000);
    const step = 1 + random.below(300);
    return Array.from({ length: Math.ceil(bytes.length / step) }, (_, at) =>
      bytes.subarray(at * step, (at + 1) * step),
    );
  },
  noise: (_request, random) => [random.bytes(random.size(3000))],
  nothing: () => [],
  'other protocols': (_request, random) => [
    random.pick([
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      '\u0016\u0003\u0001\u0000\u00a5\u0001',
      'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n',
      'EHLO x\r\n',
      '*1\r\n$4\r\nPING\r\n',
      '\u0000\u0000\u0000\u0008\u0004\u00d2\u0016/',
    ]),
    whole(_request),
  ],
};

export function brokenHttp(random: Random, world: World): BrokenHttp {
  const request = fuzzed(random, world);
  const silent = random.chance(SILENT);
  const name = silent ? 'cut off' : random.pick(Object.keys(BREAKERS));
  const writes = BREAKERS[name]!(pieces(request), random, world).map((each) =>
    typeof each === 'string' ? Buffer.from(each, 'latin1') : each,
  );
  return { port: request.port, name, writes, silent };
}

function fuzzed(random: Random, world: World): FuzzedRequest {
  return random.chance(0.8) ? apiRequest(random, world) : widgetRequest(random, world);
}

function pieces({ method, path, headers, body }: FuzzedRequest): Pieces {
  return {
    line: `${method} ${path} HTTP/1.1`,
    headers: ['host: 127.0.0.1', ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)],
    body: body ?? Buffer.alloc(0),
  };
}
