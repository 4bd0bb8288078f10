import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Server as TcpServer, type Socket } from 'node:net';
import { setImmediate as tick, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { HttpConfig } from '../config/config.js';
import { connectionsCut } from '../telemetry/metrics.js';
import type { Page } from './listeners.js';
import { problemJson, toTitle, type HttpProblem } from './problem.js';

export const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** The idle timeout. Common load balancers have shorter timeouts and close idle connections first. */
const KEEP_ALIVE_MS = 72_000;
const TIMEOUT_CHECK_MS = 5_000;

/** Returns the length of the accept queue. The minimum is Node's default. */
export function toBacklog({ maxConnections }: HttpConfig): number {
  return Math.max(511, maxConnections);
}

/** The time without traffic after which a connection is closed. No handler runs that long. */
export const IDLE_TIMEOUT_MS = 60_000;

/** The maximum number of pipelined requests without a response on one connection. */
const MAX_PENDING = 32;

declare module 'node:http' {
  interface IncomingMessage {
    listener?: Listener;
  }
}

/** An HTTP server that bounds its connections and the pipelined requests on each. */
export class Listener {
  /** The pending responses of each open connection. */
  private readonly open = new Map<Socket, Set<ServerResponse>>();
  /** True while draining: each response closes its connection. */
  isDraining = false;

  constructor(
    readonly server: Server,
    maxConnections: number,
    /** The page that the server serves; null for the API. */
    readonly page: Page | null = null,
    /** True for the socket that only the user of the process may open. */
    readonly isShell = false,
  ) {
    server.maxConnections = maxConnections;
    server.on('drop', () => {
      connectionsCut.inc();
      server.closeIdleConnections();
    });
    server.on('connection', (socket: Socket) => this.opened(socket));
    // This listener precedes the handler, which may end the response before it returns.
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
      this.requested(request, response),
    );
    // Node's own response to an unknown Expect has no problem details: the header is ignored.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    // sendContinue responds once the caller is identified.
    server.on('checkContinue', (request, response) => server.emit('request', request, response));
  }

  drain(): void {
    this.isDraining = true;
  }

  /** Closes unused connections, which browsers open in advance. Node does not count them as idle. */
  closeUnused(): void {
    for (const socket of this.open.keys()) if (socket.bytesRead === 0) socket.destroy();
  }

  private opened(socket: Socket): void {
    const pending = new Set<ServerResponse>();
    this.open.set(socket, pending);
    socket.once('close', () => {
      this.open.delete(socket);
      // Node emits `close` only for the current response: pipelined ones have no socket yet.
      for (const response of pending) if (response.socket === null) response.emit('close');
    });
  }

  private requested(request: IncomingMessage, response: ServerResponse): void {
    request.listener = this;
    const pending = this.open.get(request.socket);
    if (pending === undefined) return;
    pending.add(response);
    response.once('close', () => pending.delete(response));
    if (pending.size > MAX_PENDING) request.socket.destroy();
  }
}

/** The constraint of a route that every listener serves. */
export const EVERY_LISTENER = '*';
/** The constraint of a route that declares no listener. Only the listener of the API serves the route. */
export const API = 'api';

/** The router constraint that restricts a route to the requests of one listener. */
export const listenerConstraint = {
  name: 'listener',
  storage: <Handler>() => {
    const handlers = new Map<unknown, Handler>();
    return {
      get: (listener: unknown) => handlers.get(listener) ?? null,
      set: (listener: unknown, handler: Handler) => void handlers.set(listener, handler),
    };
  },
  deriveConstraint: ({ listener }: IncomingMessage): string => listener?.page?.name ?? API,
  mustMatchWhenDerived: false,
  validate: () => undefined,
};

/** Returns the options of every server. Node refuses a `headersTimeout` above `requestTimeout`. */
export function serverOptions(requestTimeout: number) {
  return {
    requestTimeout,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeout),
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, requestTimeout),
    // Node's own response has no problem details: EdgeHooks refuses the request.
    requireHostHeader: false,
  };
}

export function routedServer(routing: RequestListener, requestTimeout: number): Server {
  const server = createServer(serverOptions(requestTimeout), routing);
  server.setTimeout(IDLE_TIMEOUT_MS);
  return server.on('clientError', refuseClientError);
}

const CLIENT_ERRORS: Readonly<Record<string, HttpProblem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request did not arrive in time' },
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The request headers are too large' },
};
const NOT_HTTP: HttpProblem = { status: 400, detail: 'The request is not valid HTTP' };

/** Responds on the socket to bytes that are not a valid request. */
export function refuseClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = CLIENT_ERRORS[error.code ?? ''] ?? NOT_HTTP;
  const body = problemJson(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${toTitle(problem.status)}`,
    'Connection: close',
    'Content-Type: application/problem+json; charset=utf-8',
    'Cache-Control: no-store',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${randomUUID()}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** The maximum time for accepting queued connections before a listener closes. */
const ADMIT_MS = 2000;
/** The ticks without a new connection after which the queue counts as empty. */
const QUIET_TICKS = 3;
/** The time for which idle connections stay open during a drain, for requests in transit. */
const LINGER_MS = 500;
const CHECK_MS = 50;

/** Accepts the queued connections, which a close would reset. A busy process accepts only a few per tick. */
async function admitQueue(server: Server, maxWaitMs: number): Promise<void> {
  const deadline = performance.now() + maxWaitMs;
  let quiet = 0;
  const admitted = (): void => {
    quiet = 0;
  };
  server.on('connection', admitted);
  while (quiet < QUIET_TICKS && performance.now() < deadline) {
    quiet += 1;
    await tick();
  }
  server.off('connection', admitted);
}

/** Closes a listener after its requests, within `graceMs`. `app.close()` closes their dependencies later. */
export async function drainHttp(listener: Listener, graceMs: number): Promise<void> {
  const { server } = listener;
  if (!server.listening) return;
  const deadline = performance.now() + graceMs;
  await admitQueue(server, Math.min(ADMIT_MS, graceMs));
  // A connection closed before this point would let its client reconnect into the queue.
  listener.drain();
  // http.Server.close would close idle connections at once, and reset requests in transit.
  TcpServer.prototype.close.call(server);
  await sleep(Math.min(LINGER_MS, graceMs));
  // Sockets are read first: after a stall, this timer runs before requests that arrived long ago are read.
  await tick();
  listener.closeUnused();
  const countOpen = promisify(server.getConnections.bind(server));
  while (performance.now() < deadline) {
    server.closeIdleConnections();
    if ((await countOpen()) === 0) return;
    await sleep(CHECK_MS);
    await tick();
  }
  server.closeAllConnections();
}
