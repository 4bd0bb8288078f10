import { connect } from 'node:net';
import fc, { type Arbitrary } from 'fast-check';
import { mostly } from './hostile.js';
import type { FuzzedRequest } from './parts.js';

export interface BrokenHttp {
  readonly port: string;
  readonly name: string;
  /** Each is written when the previous one has been sent. */
  readonly writes: readonly Buffer[];
  /** Sends nothing more and leaves the connection open, so that the service has to close it. */
  readonly stalls: boolean;
}

/** One in so many connections stalls, because that takes half a minute. */
const STALLING = 400;
const MAX_HEADERS = 3000;

type Writes = Arbitrary<readonly (Buffer | string)[]>;

interface Pieces {
  readonly line: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

const head = ({ line, headers }: Pieces, ...more: readonly string[]): string =>
  `${[line, ...headers, ...more].join('\r\n')}\r\n\r\n`;
const framed = (request: Pieces): string => head(request, `content-length: ${request.body.length}`);
const whole = (request: Pieces): Buffer =>
  Buffer.concat([Buffer.from(framed(request), 'latin1'), request.body]);

/** Returns hostile lines, one per line of the text, with escapes as in JSON. */
const linesOf = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(`"${line.trim()}"`) as string);

const LINES = linesOf(String.raw`
    GET / HTTP/1.0
    GET / HTTP/2.0
    FOO / HTTP/1.1
    OPTIONS * HTTP/1.1
    CONNECT 127.0.0.1:9 HTTP/1.1
    GET http://[ HTTP/1.1
    GET /\u0000 HTTP/1.1
    GET # HTTP/1.1
    PRI * HTTP/2.0\r\n\r\nSM
    \u0016\u0003\u0001\u0002\u0000`);
const HEADERS = [
  ...linesOf(String.raw`
    no colon
    x : y
    x: a\r\n\tfolded
    x: \u0000
    host: a\r\nhost: b
    transfer-encoding: chunked, gzip
    content-length: 5\r\ncontent-length: 6
    content-length: 0\r\ntransfer-encoding: chunked
    content-length: 18446744073709551616
    expect: 100-continue
    expect: 200-ok
    upgrade: websocket\r\nconnection: upgrade`),
  `x: ${'y'.repeat(70_000)}`,
];
const CHUNKS = [
  ...['zz\r\n', '5\r\nab', 'ffffffffffffffff\r\nx', '1\r\nab\r\n0\r\n\r\n', '1;a=b\r\nx\r\n0\r\n\r\n'],
  `${'1\r\nx\r\n'.repeat(2000)}0\r\n\r\n`,
];

/** The ways to break a request. `others` are further valid ones. */
const BREAKERS: Readonly<Record<string, (request: Pieces, others: readonly Pieces[]) => Writes>> = {
  'cut off': (request) => fc.nat(whole(request).length - 1).map((end) => [whole(request).subarray(0, end)]),
  'flipped bytes': (request) => {
    const flip = fc.tuple(fc.nat(whole(request).length - 1), fc.nat(255));
    return fc.array(flip, { minLength: 1, maxLength: 20 }).map((flips) => {
      const bytes = whole(request);
      for (const [at, byte] of flips) bytes[at] = byte;
      return [bytes];
    });
  },
  'wrong length': (request) =>
    fc
      .integer({ min: -50, max: 50 })
      .map((more) => [
        head(request, `content-length: ${Math.max(0, request.body.length + more)}`),
        request.body,
      ]),
  chunks: (request) =>
    fc.constantFrom(...CHUNKS).map((chunk) => [head(request, 'transfer-encoding: chunked'), chunk]),
  'request line': (request) =>
    fc.constantFrom(...LINES).map((line) => [framed({ ...request, line }), request.body]),
  'header line': (request) =>
    fc.tuple(fc.constantFrom(...HEADERS), fc.nat(request.headers.length)).map(([line, at]) => {
      const headers = request.headers.toSpliced(at, 0, line);
      return [framed({ ...request, headers }), request.body];
    }),
  'many headers': (request) =>
    fc.nat(MAX_HEADERS).map((count) => {
      const more = Array.from({ length: count }, (_, n) => `x-${n}: y`);
      return [head(request, `content-length: ${request.body.length}`, ...more), request.body];
    }),
  'without host': (request) => fc.constant([framed({ ...request, headers: request.headers.slice(1) })]),
  pipelined: (request, others) => fc.constant([whole(request), ...others.map(whole)]),
  dripped: (request) =>
    fc.integer({ min: 1, max: 300 }).map((step) => {
      const bytes = whole(request).subarray(0, 4000);
      const count = Math.ceil(bytes.length / step);
      return Array.from({ length: count }, (_, at) => bytes.subarray(at * step, (at + 1) * step));
    }),
  noise: () => fc.uint8Array({ maxLength: 3000 }).map((bytes) => [Buffer.from(bytes)]),
};

export function brokenHttp(requests: Arbitrary<FuzzedRequest>): Arbitrary<BrokenHttp> {
  const name = fc.constantFrom(...Object.keys(BREAKERS));
  const others = fc.array(requests.map(pieces), { maxLength: 20 });
  const broken = fc.tuple(requests, name, others).chain(([request, how, more]) =>
    BREAKERS[how]!(pieces(request), more).map((writes) => ({
      port: request.port,
      name: how,
      writes: writes.map((each) => (typeof each === 'string' ? Buffer.from(each, 'latin1') : each)),
      stalls: false,
    })),
  );
  const stalling = requests.map((request) => {
    const bytes = whole(pieces(request));
    const writes = [bytes.subarray(0, bytes.length / 2)];
    return { port: request.port, name: 'stalls', writes, stalls: true };
  });
  return mostly<BrokenHttp>(STALLING, broken, stalling);
}

function pieces({ method, path, headers, body }: FuzzedRequest): Pieces {
  return {
    line: `${method} ${path} HTTP/1.1`,
    headers: ['host: 127.0.0.1', ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)],
    body: body ?? Buffer.alloc(0),
  };
}

/** A response to a complete request comes within this time; then the client ends the connection. */
const QUIET_MS = 250;

export interface Exchange {
  readonly bytes: Buffer;
  /** Milliseconds until the connection was closed; null beyond the bound. */
  readonly closedAfterMs: number | null;
}

/** Writes the bytes over a new connection and reads until it is closed. */
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
