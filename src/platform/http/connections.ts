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
import type { HttpConfig } from '../config/config.js';
import { connectionsCut } from '../telemetry/metrics.js';
import type { Page } from './listeners.js';
import { problemJson, toTitle, type HttpProblem } from './problem.js';

/** The times in which a client must send a request and its headers, and may idle between two. */
export const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** Longer than the idle timeout of usual load balancers, so that they and not we close an idle connection. */
const KEEP_ALIVE_MS = 72_000;
/** The interval at which Node checks for late requests. */
const TIMEOUT_CHECK_MS = 5_000;

/** Connections that wait to be accepted: clients that come at once. Node's own number, 511, is the least. */
export function toBacklog({ maxConnections }: HttpConfig): number {
  return Math.max(511, maxConnections);
}

/** The time that a connection with a request may pass no byte either way; longer than any handler takes. */
export const IDLE_TIMEOUT_MS = 60_000;

/** Requests on one connection that have no response yet: a client may pipeline, not pile up. */
const MAX_PENDING = 32;

declare module 'node:http' {
  interface IncomingMessage {
    /** The listener that received the request. */
    listener?: Listener;
  }
}

/**
 * A server of HTTP with its open connections, bounded before it listens. Above the bound idle ones make place for the next.
 * Clients that pile up requests are cut off; those that take nothing of their responses, by the server's own timeout.
 */
export class Listener {
  /** The responses of each open connection that are not sent yet. */
  private readonly open = new Map<Socket, Set<ServerResponse>>();
  /** True once every response ends its connection. */
  isDraining = false;

  constructor(
    readonly server: Server,
    maxConnections: number,
    /** The page that it serves; null: the API. */
    readonly page: Page | null = null,
    /** Only the user of the process may connect. */
    readonly isShell = false,
  ) {
    server.maxConnections = maxConnections;
    server.on('drop', () => {
      connectionsCut.inc();
      server.closeIdleConnections();
    });
    server.on('connection', (socket: Socket) => this.opened(socket));
    // The listener runs before the handler, whose response may be over when it returns.
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
      this.requested(request, response),
    );
    // Node's own response to an Expect that it does not know is no problem document: the request counts as if it had none.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    // `100 Continue` is sent once the caller is identified: sendContinue.
    server.on('checkContinue', (request, response) => server.emit('request', request, response));
  }

  drain(): void {
    this.isDraining = true;
  }

  /** Browsers open connections on the off chance. Node does not count those as idle that have sent nothing yet. */
  closeUnused(): void {
    for (const socket of this.open.keys()) if (socket.bytesRead === 0) socket.destroy();
  }

  private opened(socket: Socket): void {
    const pending = new Set<ServerResponse>();
    this.open.set(socket, pending);
    socket.once('close', () => {
      this.open.delete(socket);
      // Node closes only the current response; those pipelined behind it have no socket yet.
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
/** The constraint of the API, and of routes that name no listener. */
export const API = 'api';

/** A constraint of the router: a route serves the requests of its listener alone. */
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

/** The options of every server, for requests that take so long at most. Node applies the time only after the two others. */
export function serverOptions(requestTimeout: number) {
  return {
    requestTimeout,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeout),
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, requestTimeout),
    // Node's own response to a request without Host is no problem document; the edge gives one.
    requireHostHeader: false,
  };
}

/** A server that passes its requests on, as Fastify's own does. */
export function routedServer(routing: RequestListener, requestTimeout: number): Server {
  const server = createServer(serverOptions(requestTimeout), routing);
  server.setTimeout(IDLE_TIMEOUT_MS);
  return server.on('clientError', refuseClientError);
}

function toProblem(error: NodeJS.ErrnoException): HttpProblem {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { status: 408, detail: 'The request did not arrive in time' };
  }
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return { status: 431, detail: 'The request headers are too large' };
  return { status: 400, detail: 'The request is not valid HTTP' };
}

/** Refuses bytes that never became a request: there is no reply object yet, only the socket. */
export function refuseClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = toProblem(error);
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

/** The time for which the listener accepts its queue while more connections come. */
const ADMIT_MS = 2000;
/** The ticks of the event loop without a new connection after which the queue is empty. */
const QUIET_TICKS = 3;
/** The time for which an idle keep-alive connection stays, so that a request on its way gets its response. */
const LINGER_MS = 500;
const CHECK_MS = 50;

function openConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}

/**
 * Accepts the connections in the queue of the listener: their clients may have sent requests, and would be reset. A busy
 * process accepts few connections per tick, so quiet ticks are counted, not time.
 */
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

/**
 * Ends the listener without cutting a client off: it accepts what is queued and nothing after; responses from then on say
 * `connection: close`; idle connections close after a short wait, the others after their response, the rest after `graceMs`
 * by force. Call it before `app.close()`, which closes what requests still need.
 */
export async function drainHttp(listener: Listener, graceMs: number): Promise<void> {
  const { server } = listener;
  if (!server.listening) return;
  const deadline = performance.now() + graceMs;
  await admitQueue(server, Math.min(ADMIT_MS, graceMs));
  // Not sooner: a client told to close connects again, and would be in the queue when the listener ends.
  listener.drain();
  // The method of http.Server would close idle connections at once, and with them requests that are on the wire.
  TcpServer.prototype.close.call(server);
  await sleep(Math.min(LINGER_MS, graceMs));
  // Sockets are read once more: after a stall of the process this timer runs before requests that came long ago.
  await tick();
  listener.closeUnused();
  while (performance.now() < deadline) {
    server.closeIdleConnections();
    if ((await openConnections(server)) === 0) return;
    await sleep(CHECK_MS);
    await tick();
  }
  server.closeAllConnections();
}
