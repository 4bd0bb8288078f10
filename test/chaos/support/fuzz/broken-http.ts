import { connect } from 'node:net';
import type { Random } from '../random.js';
import { apiRequest, widgetRequest, type FuzzedRequest } from './requests.js';
import type { World } from './world.js';

/** Bytes for a connection of their own. */
export interface BrokenHttp {
  readonly port: 'api' | 'widget';
  readonly name: string;
  /** Written one after the other, each when the one before has left. */
  readonly writes: readonly Buffer[];
  /** Nothing follows and nothing is closed: the service has to end the connection. */
  readonly stalls: boolean;
}

/** How many of those connections stall: each holds one of the suite's for half a minute. */
const STALLING = 1 / 400;
const MAX_HEADERS = 3000;

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

/** Hostile lines, one per line of the text, with escapes as in JSON. */
const linesOf = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(`"${line.trim()}"`) as string);

const LENGTHS = [
  '-1',
  '+5',
  '0x5',
  '5 5',
  '',
  '1e3',
  '18446744073709551616',
  '5, 5',
  '5\r\ncontent-length: 6',
];
const CHUNKS = [
  ...linesOf(String.raw`
    zz\r\n
    -1\r\nx\r\n
    5\r\nab
    ffffffffffffffff\r\nx
    1\r\nab\r\n0\r\n\r\n
    0\r\n\r\n
    0\r\nx: y\r\n\r\n
    1;a=b\r\nx\r\n0\r\n\r\n
    1\nx\n0\n\n
    1 \r\nx\r\n0\r\n\r\n
    +1\r\nx\r\n0\r\n\r\n`),
  ` 1\r\nx\r\n0\r\n\r\n`,
  `1;${'a'.repeat(20_000)}\r\nx\r\n`,
  `0\r\n${'a: b\r\n'.repeat(3000)}\r\n`,
  `${'1\r\nx\r\n'.repeat(2000)}0\r\n\r\n`,
];
const LINES = [
  ...linesOf(String.raw`
    GET
    GET /
    GET / HTTP/0.9
    GET / HTTP/1.0
    GET / HTTP/2.0
    GET / HTTP/1.1 x
    GET  / HTTP/1.1
    get / HTTP/1.1
    FOO / HTTP/1.1
    GET * HTTP/1.1
    OPTIONS * HTTP/1.1
    CONNECT 127.0.0.1:9 HTTP/1.1
    GET http://127.0.0.1:9/health/live HTTP/1.1
    GET http://[ HTTP/1.1
    GET //x HTTP/1.1
    GET /\u0000 HTTP/1.1
    GET /\u00ff\u00fe HTTP/1.1
    GET /a\tb HTTP/1.1
    GET /a\rb HTTP/1.1
    GET ?x HTTP/1.1
    GET # HTTP/1.1
    PRI * HTTP/2.0
    \u0016\u0003\u0001\u0002\u0000`),
  ' GET / HTTP/1.1',
  `GET /${'a'.repeat(100_000)} HTTP/1.1`,
  `${'A'.repeat(20_000)} / HTTP/1.1`,
];
const HEADERS = [
  ...linesOf(String.raw`
    no colon
    : no name
    a b: c
    x : y
    x: a\r\n\tfolded
    x: \u0000
    x: \u0001\u0007
    x: a\nb: c
    x: a\rb
    host: a\r\nhost: b
    host:
    host: [
    transfer-encoding: chunked, gzip
    transfer-encoding: identity
    connection: x,,;
    expect: 100-continue
    expect: 200-ok
    upgrade: websocket\r\nconnection: upgrade
    upgrade: h2c\r\nconnection: upgrade, http2-settings
    keep-alive: timeout=-1
    content-length: 0\r\ntransfer-encoding: chunked
    \u00ff: \u00ff
    __proto__: x
    constructor: y`),
  ' folded',
  `x: ${'y'.repeat(70_000)}`,
  `${'x'.repeat(70_000)}: y`,
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
    const count = random.size(MAX_HEADERS);
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
  const stalls = random.chance(STALLING);
  const name = stalls ? 'cut off' : random.pick(Object.keys(BREAKERS));
  const writes = BREAKERS[name]!(pieces(request), random, world).map((each) =>
    typeof each === 'string' ? Buffer.from(each, 'latin1') : each,
  );
  return { port: request.port, name, writes, stalls };
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

/** A response to bytes that were written whole comes within that time, or this side ends the connection. */
const QUIET_MS = 250;

/** What came back until the connection was closed. */
export interface Exchange {
  readonly bytes: Buffer;
  /** Milliseconds until the connection was closed; null when that took longer than the bound. */
  readonly closedAfterMs: number | null;
}

/** Writes the bytes over a new connection, and reads until it is closed. */
export function speak(
  { writes, stalls }: BrokenHttp,
  port: number,
  from: string,
  withinMs: number,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const began = performance.now();
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', localAddress: from, noDelay: true });
    const done = (closed: boolean): void => {
      clearTimeout(bound);
      clearTimeout(quiet);
      socket.destroy();
      resolve({ bytes: Buffer.concat(chunks), closedAfterMs: closed ? performance.now() - began : null });
    };
    const bound = setTimeout(() => done(false), withinMs);
    let quiet: NodeJS.Timeout | undefined;
    const finish = (): void => {
      clearTimeout(quiet);
      if (!stalls) quiet = setTimeout(() => socket.end(), chunks.length > 0 ? 20 : QUIET_MS);
    };
    let next = 0;
    const write = (): void => {
      const bytes = writes[next++];
      if (bytes === undefined || !socket.writable) finish();
      else socket.write(bytes, () => setImmediate(write));
    };
    socket.on('connect', write);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (next > writes.length) finish();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => done(true));
  });
}
