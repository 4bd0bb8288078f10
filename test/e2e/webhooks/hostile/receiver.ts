import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { FailurePhase } from '../../../../src/platform/outbound/request-failure.js';
import type { Certificates } from './certificates.js';

export type Expected =
  | { readonly status: number; readonly retryAfter: string | null; readonly error: RegExp | null }
  | { readonly phase: FailurePhase; readonly error: RegExp };

/** One kind of misbehaving receiver. */
export interface HostileReceiver {
  readonly name: string;
  /** The possible results of each delivery, one delivery after the other. */
  readonly expected: readonly (readonly Expected[])[];
  start(certificates: Certificates): Promise<Hosted>;
}

export interface Hosted {
  readonly url: string;
  /** The total of whole requests, and of connections. */
  requests: number;
  connections: number;
  /** The number of bytes passed to the operating system. */
  sent(): number;
  stop(): Promise<void>;
}

/** Handles a connection. */
type Behaviour = (socket: Socket, host: Hosted) => void;

export const responded = (status: number, retryAfter: string | null = null): readonly Expected[] => [
  { status, retryAfter, error: null },
];

/** Expects one delivery with a whole header, and an error in or after it. */
export const broken = (status: number, error: RegExp): readonly Expected[] => [
  { status, retryAfter: null, error },
];

export const failed = (phase: FailurePhase, error: RegExp): readonly Expected[] => [{ phase, error }];

interface Options {
  /** Speaks TLS with options from these certificates. */
  readonly tls?: (certificates: Certificates) => TlsOptions;
  /** True for a URL with https, even if the receiver speaks something else. */
  readonly https?: boolean;
}

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

/** Responds to a whole request with these bytes. The connection stays open by default. */
export function says(bytes: string | Buffer, then: 'stay' | 'end' | 'reset' = 'stay'): Behaviour {
  return (socket, host) =>
    onRequests(socket, host, () => {
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, () => {
        if (then === 'end') socket.end();
        if (then === 'reset') setTimeout(() => socket.resetAndDestroy(), 20);
      });
    });
}

/** Responds to a whole request with `first`, then with a piece every `everyMs` until the client is gone. */
export function drips(first: string, piece: (index: number) => string, everyMs = 40): Behaviour {
  return (socket, host) =>
    onRequests(socket, host, () => {
      socket.write(first);
      let index = 0;
      const timer = setInterval(() => socket.write(piece(index++)), everyMs);
      socket.on('close', () => clearInterval(timer));
    });
}

/** Responds to a whole request with `first`, then endlessly with `more`, as fast as it is read. */
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
