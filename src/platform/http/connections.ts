import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../config/config.js';
import { connectionsCut } from '../telemetry/metrics.js';
import { clientOf } from './address.js';
import { problemJson, titleOf, type Problem } from './problem.js';

/** How long a client may take to send a request, and its headers; how long a connection may be idle between two. */
export const REQUEST_TIMEOUT_MS = 30_000;
export const HEADERS_TIMEOUT_MS = 10_000;
/** Longer than the idle timeout of usual load balancers, so that they and not we close an idle connection. */
export const KEEP_ALIVE_MS = 72_000;
/** How often Node looks for requests that are late. */
export const TIMEOUT_CHECK_MS = 5_000;

/** What every listener allows one connection, and all of them. */
export interface ConnectionBounds {
  readonly most: number;
  readonly mostPerAddress: number;
  /** While bytes wait to be written, a client has to take `leastTaken` of them, or all, in each such time. */
  readonly stallMs: number;
  readonly leastTaken: number;
  /** Requests on one connection that have no response yet: a client may pipeline, not pile up. */
  readonly mostPending: number;
  /** How long a client may leave a connection open that we have ended. */
  readonly lingerMs: number;
}

export const CONNECTION_DEFAULTS = {
  stallMs: 30_000,
  leastTaken: 1 << 20,
  mostPending: 32,
  lingerMs: 5_000,
} as const;

/** Behind a proxy every connection has the proxy's address: it has to bound its clients itself. */
export function connectionBounds(
  config: Pick<Config, 'maxConnections' | 'maxConnectionsPerIp' | 'trustProxy'>,
): ConnectionBounds {
  const mostPerAddress = config.trustProxy === null ? config.maxConnectionsPerIp : Infinity;
  return { ...CONNECTION_DEFAULTS, most: config.maxConnections, mostPerAddress };
}

/** What is known of an open connection. */
interface Connection {
  readonly client: string;
  readonly pending: Set<ServerResponse>;
  /** When the time in which the client has to take bytes began, and how many it had taken then. */
  waitingSince: number;
  takenBefore: number;
  endedAt: number;
}

type Reason = 'process' | 'address' | 'pipelined' | 'stalled' | 'lingering';

/**
 * Bounds the connections of any HTTP server of Node, once, before it listens. Above the bounds a new connection is closed
 * without a response; when the process has too many, its idle ones are closed as well, so that the next finds a place.
 * Connections whose client does not take its responses, or does not go when told to, are destroyed.
 */
export function guardConnections(server: Server, bounds: ConnectionBounds): ConnectionGuard {
  const guard = new ConnectionGuard(bounds);
  server.maxConnections = bounds.most;
  server.on('drop', () => {
    connectionsCut.inc({ reason: 'process' satisfies Reason });
    server.closeIdleConnections();
  });
  server.on('connection', (socket: Socket) => guard.opened(socket));
  // Before the handler: a response may be over by the time it returns.
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
    guard.asked(request.socket, response),
  );
  // Node's own response to an Expect that it does not know is no problem document: the request counts as if it had none.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
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
    if (count > this.bounds.mostPerAddress) {
      cut(socket, 'address');
      return;
    }
    this.perClient.set(client, count);
    const pending = new Set<ServerResponse>();
    this.open.set(socket, { client, pending, waitingSince: 0, takenBefore: 0, endedAt: 0 });
    socket.once('close', () => {
      this.open.delete(socket);
      // Node tells only the response whose turn it is; those pipelined behind it have no socket yet.
      for (const response of pending) if (response.socket === null) response.emit('close');
      const left = this.perClient.get(client)! - 1;
      if (left === 0) this.perClient.delete(client);
      else this.perClient.set(client, left);
    });
  }

  asked(socket: Socket, response: ServerResponse): void {
    const connection = this.open.get(socket);
    if (connection === undefined) return;
    connection.pending.add(response);
    if (connection.pending.size > this.bounds.mostPending) cut(socket, 'pipelined');
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
    const taken = socket.bytesWritten - socket.writableLength;
    if (connection.waitingSince !== 0 && now - connection.waitingSince < this.bounds.stallMs) return false;
    const tooLittle =
      connection.waitingSince !== 0 && taken - connection.takenBefore < this.bounds.leastTaken;
    connection.waitingSince = now;
    connection.takenBefore = taken;
    return tooLittle;
  }

  /** Ended by us, all bytes taken, and the client keeps its half. */
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

function problemOf(error: NodeJS.ErrnoException): Problem {
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
