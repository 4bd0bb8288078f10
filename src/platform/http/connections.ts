import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TcpServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.js';
import { connectionsCut } from '../telemetry/metrics.js';
import { clientOf } from './address.js';
import { problemJson, titleOf, type HttpProblem } from './problem.js';

/** How long a client may take to send a request, and its headers; how long a connection may be idle between two. */
export const REQUEST_TIMEOUT_MS = 30_000;
export const HEADERS_TIMEOUT_MS = 10_000;
/** Longer than the idle timeout of usual load balancers, so that they and not we close an idle connection. */
export const KEEP_ALIVE_MS = 72_000;
/** How often Node checks for late requests. */
export const TIMEOUT_CHECK_MS = 5_000;

/** Connections that wait to be accepted: clients that come at once. Node's own number, 511, is the least. */
export function backlogOf({ maxConnections }: Pick<Config, 'maxConnections'>): number {
  return Math.max(511, maxConnections);
}

/** What every listener allows one connection, and all of them. */
interface ConnectionBounds {
  readonly max: number;
  readonly maxPerAddress: number;
  /** While bytes are queued, a client has to read `minDrained` of them, or all, in each such time. */
  readonly stallMs: number;
  readonly minDrained: number;
  /** Requests on one connection that have no response yet: a client may pipeline, not pile up. */
  readonly maxPending: number;
  /** How long a client may leave a connection open that we have ended. */
  readonly lingerMs: number;
}

export const CONNECTION_DEFAULTS = {
  stallMs: 30_000,
  minDrained: 1 << 20,
  maxPending: 32,
  lingerMs: 5_000,
} as const;

/** Behind a proxy every connection has the proxy's address: it has to bound its clients itself. */
export function connectionBounds(
  config: Pick<Config, 'maxConnections' | 'maxConnectionsPerIp' | 'trustProxy'>,
): ConnectionBounds {
  const maxPerAddress = config.trustProxy === null ? config.maxConnectionsPerIp : Infinity;
  return { ...CONNECTION_DEFAULTS, max: config.maxConnections, maxPerAddress };
}

/** What is known of an open connection. */
interface Connection {
  readonly client: string;
  readonly pending: Set<ServerResponse>;
  /** When the current stall window began, and how many bytes the client had read by then. */
  waitingSince: number;
  drainedBefore: number;
  endedAt: number;
}

type Reason = 'process' | 'address' | 'pipelined' | 'stalled' | 'lingering';

/**
 * Bounds the connections of any HTTP server of Node, once, before it listens. Above the bounds a new connection is closed
 * without a response; when the process has too many, its idle ones are closed as well, so that the next finds a place.
 * Connections whose client does not read its responses, or stays after we ended them, are destroyed.
 */
export function guardConnections(server: Server, bounds: ConnectionBounds): ConnectionGuard {
  const guard = new ConnectionGuard(bounds);
  server.maxConnections = bounds.max;
  server.on('drop', () => {
    connectionsCut.inc({ reason: 'process' satisfies Reason });
    server.closeIdleConnections();
  });
  server.on('connection', (socket: Socket) => guard.opened(socket));
  // Before the handler: a response may be over by the time it returns.
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
    guard.requested(request.socket, response),
  );
  // Node's own response to an Expect that it does not know is no problem document: the request counts as if it had none.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // `100 Continue` is sent once the caller is identified: sendContinue.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  const sweeper = setInterval(() => guard.sweep(performance.now()), Math.min(1000, bounds.stallMs / 4));
  sweeper.unref();
  server.on('close', () => clearInterval(sweeper));
  return guard;
}

export class ConnectionGuard {
  private readonly open = new Map<Socket, Connection>();
  private readonly perClient = new Map<string, number>();

  constructor(private readonly bounds: ConnectionBounds) {}

  opened(socket: Socket): void {
    const client = clientOf(socket.remoteAddress ?? '');
    const count = (this.perClient.get(client) ?? 0) + 1;
    if (count > this.bounds.maxPerAddress) {
      cut(socket, 'address');
      return;
    }
    this.perClient.set(client, count);
    const pending = new Set<ServerResponse>();
    this.open.set(socket, { client, pending, waitingSince: 0, drainedBefore: 0, endedAt: 0 });
    socket.once('close', () => {
      this.open.delete(socket);
      // Node closes only the current response; those pipelined behind it have no socket yet.
      for (const response of pending) if (response.socket === null) response.emit('close');
      const left = this.perClient.get(client)! - 1;
      if (left === 0) this.perClient.delete(client);
      else this.perClient.set(client, left);
    });
  }

  requested(socket: Socket, response: ServerResponse): void {
    const connection = this.open.get(socket);
    if (connection === undefined) return;
    connection.pending.add(response);
    if (connection.pending.size > this.bounds.maxPending) cut(socket, 'pipelined');
    response.once('close', () => connection.pending.delete(response));
  }

  /** Browsers open connections on the off chance. Node does not count those as idle that have sent nothing yet. */
  closeUnused(): void {
    for (const socket of this.open.keys()) if (socket.bytesRead === 0) socket.destroy();
  }

  sweep(now: number): void {
    for (const [socket, connection] of this.open) {
      if (this.isStalled(socket, connection, now)) cut(socket, 'stalled');
      else if (this.lingers(socket, connection, now)) cut(socket, 'lingering');
    }
  }

  private isStalled(socket: Socket, connection: Connection, now: number): boolean {
    if (socket.writableLength === 0) {
      connection.waitingSince = 0;
      return false;
    }
    const drained = socket.bytesWritten - socket.writableLength;
    if (connection.waitingSince !== 0 && now - connection.waitingSince < this.bounds.stallMs) return false;
    const tooLittle =
      connection.waitingSince !== 0 && drained - connection.drainedBefore < this.bounds.minDrained;
    connection.waitingSince = now;
    connection.drainedBefore = drained;
    return tooLittle;
  }

  /** Ended by us, all bytes sent, and the client keeps its half. */
  private lingers(socket: Socket, connection: Connection, now: number): boolean {
    if (!socket.writableFinished) return false;
    if (connection.endedAt === 0) connection.endedAt = now;
    return now - connection.endedAt >= this.bounds.lingerMs;
  }
}

function cut(socket: Socket, reason: Reason): void {
  connectionsCut.inc({ reason });
  socket.destroy();
}

function problemOf(error: NodeJS.ErrnoException): HttpProblem {
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
  const problem = problemOf(error);
  const body = problemJson(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${titleOf(problem.status)}`,
    'Connection: close',
    'Content-Type: application/problem+json; charset=utf-8',
    'Cache-Control: no-store',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${randomUUID()}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** How long the listener accepts its queue when more and more come. */
const ADMIT_MS = 2000;
/** After so many ticks of the event loop without a new connection the queue is empty. */
const QUIET_TICKS = 3;
/** How long an idle keep-alive connection stays: a request already on its way through still gets its response. */
const LINGER_MS = 500;
const CHECK_MS = 50;

/** A listener that can end without cutting a client off. */
export interface Drainable {
  readonly connections: ConnectionGuard;
  getHttpServer(): Server;
  /** From now on every response ends its connection. */
  drain(): void;
}

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
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.off('connection', admitted);
}

/**
 * Ends the listener without cutting a client off: it accepts what is queued and nothing after; responses from then on say
 * `connection: close`; idle connections close after a short wait, the others after their response, the rest after `graceMs`
 * by force. Call it before `app.close()`, which closes what requests still need.
 */
export async function drainHttp(listener: Drainable, graceMs: number): Promise<void> {
  const server = listener.getHttpServer();
  if (!server.listening) return;
  const deadline = performance.now() + graceMs;
  await admitQueue(server, Math.min(ADMIT_MS, graceMs));
  // Not sooner: a client told to close connects again, and would be in the queue when the listener ends.
  listener.drain();
  // The method of http.Server would close idle connections at once, and with them requests that are on the wire.
  TcpServer.prototype.close.call(server);
  await sleep(Math.min(LINGER_MS, graceMs));
  listener.connections.closeUnused();
  while (performance.now() < deadline) {
    server.closeIdleConnections();
    if ((await openConnections(server)) === 0) return;
    await sleep(CHECK_MS);
  }
  server.closeAllConnections();
}
