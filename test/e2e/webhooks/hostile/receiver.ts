import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { FailurePhase } from '../../../../src/platform/outbound/request-failure.js';
import type { Certificates } from './certificates.js';

/** The expected result of one delivery. */
export type Expected =
  | { readonly status: number; readonly retryAfter: string | null; readonly error: RegExp | null }
  | { readonly phase: FailurePhase; readonly error: RegExp };

/** One kind of misbehaving receiver. */
export interface HostileReceiver {
  readonly name: string;
  /** One delivery after the other, each with its possible results. */
  readonly expected: readonly (readonly Expected[])[];
  start(certificates: Certificates): Promise<Hosted>;
}

/** A running receiver. */
export interface Hosted {
  readonly url: string;
  /** The total of whole requests, and of connections. */
  requests: number;
  connections: number;
  /** Bytes that it handed to the system. */
  sent(): number;
  stop(): Promise<void>;
}

/** What it does with a connection. */
type Behaviour = (socket: Socket, host: Hosted) => void;

/** One delivery that gets a response. */
export const responded = (status: number, retryAfter: string | null = null): readonly Expected[] => [
  { status, retryAfter, error: null },
];

/** One delivery that gets a whole header, and an error after it or in it. */
export const broken = (status: number, error: RegExp): readonly Expected[] => [
  { status, retryAfter: null, error },
];

/** One delivery that fails. */
export const failed = (phase: FailurePhase, error: RegExp): readonly Expected[] => [{ phase, error }];

interface Options {
  /** Over TLS with what these certificates make of it. */
  readonly tls?: (certificates: Certificates) => TlsOptions;
  /** Its URL says https, also when it speaks something else. */
  readonly https?: boolean;
}

/** A receiver that treats each of its connections like this. */
export function receiver(
  name: string,
  expected: readonly Expected[] | readonly (readonly Expected[])[],
  behave: Behaviour,
  { tls, https = tls !== undefined }: Options = {},
): HostileReceiver {
  const list = isList(expected) ? expected : [expected];
  return {
    name,
    expected: list,
    start: (certificates) => host(tls ? tls(certificates) : null, https, behave),
  };
}

function isList(
  expected: readonly Expected[] | readonly (readonly Expected[])[],
): expected is readonly (readonly Expected[])[] {
  return Array.isArray(expected[0]);
}

async function host(tls: TlsOptions | null, https: boolean, behave: Behaviour): Promise<Hosted> {
  const sockets = new Set<Socket>();
  const server: Server = tls ? createTlsServer(tls) : createTcpServer({ allowHalfOpen: true });
  const hosted: Hosted = {
    url: await listen(server, https),
    requests: 0,
    connections: 0,
    sent: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0),
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  server.on('connection', (socket: Socket) => {
    hosted.connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.on('tlsClientError', () => undefined);
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    socket.on('error', () => undefined);
    behave(socket, hosted);
  });
  return hosted;
}

/** Listens on a free port of loopback; resolves to the URL. */
async function listen(server: Server, https: boolean): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return `${https ? 'https' : 'http'}://127.0.0.1:${port}/hooks/secret-path?token=secret-token`;
}

/** Calls back for each whole request on the connection. */
export function onRequests(socket: Socket, host: Hosted, handle: () => void): void {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    for (;;) {
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/\r\ncontent-length: ([0-9]+)/i.exec(text.slice(0, end))?.[1] ?? 0);
      if (text.length < end + 4 + length) return;
      text = text.slice(end + 4 + length);
      host.requests += 1;
      handle();
    }
  });
}

/** Waits for a whole request, then says this; the connection stays open unless given otherwise. */
export function says(bytes: string | Buffer, then: 'stay' | 'end' | 'reset' = 'stay'): Behaviour {
  return (socket, host) =>
    onRequests(socket, host, () => {
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, () => {
        if (then === 'end') socket.end();
        if (then === 'reset') setTimeout(() => socket.resetAndDestroy(), 20);
      });
    });
}

/** Waits for a whole request, says the first, then one piece of the second every so often until the client is gone. */
export function drips(first: string, piece: (index: number) => string, everyMs = 40): Behaviour {
  return (socket, host) =>
    onRequests(socket, host, () => {
      socket.write(first);
      let index = 0;
      const timer = setInterval(() => socket.write(piece(index++)), everyMs);
      socket.on('close', () => clearInterval(timer));
    });
}

/** Waits for a whole request, says the first, then the second as fast as it is read, without end. */
export function floods(first: string, more: Buffer): Behaviour {
  return (socket, host) =>
    onRequests(socket, host, () => {
      socket.write(first);
      const go = (): void => {
        while (!socket.destroyed && socket.write(more));
      };
      socket.on('drain', go);
      go();
    });
}
