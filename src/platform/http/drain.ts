import { Server as TcpServer } from 'node:net';
import type { Server } from 'node:http';
import type { ConnectionGuard } from './connections.js';

/** How long the listener may stay open for those in its queue, when ever more of them come. */
const ADMIT_MS = 2000;
/** Turns of the event loop without a new connection after which the queue is empty. */
const QUIET_TURNS = 3;
/** How long an idle keep-alive connection stays: a request already on its way through still gets its response. */
const LINGER_MS = 500;
const CHECK_MS = 50;

/** A listener that ends without cutting anybody off. */
export interface Drainable {
  readonly connections: ConnectionGuard;
  getHttpServer(): Server;
  /** From now on every response ends its connection. */
  drain(): void;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function openConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}

/**
 * Lets in whoever stands in the queue of the listener: he is connected as far as he knows, may have sent his request,
 * and would be reset. A busy process takes few connections a turn, so it is their number that tells, not the time.
 */
async function admitQueue(server: Server, patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  let quiet = 0;
  const admitted = (): void => {
    quiet = 0;
  };
  server.on('connection', admitted);
  while (quiet < QUIET_TURNS && performance.now() < deadline) {
    quiet += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.off('connection', admitted);
}

/**
 * Ends the listener without cutting anybody off. Whoever is connected comes in, nobody after him; every response from
 * then on says `connection: close`; idle connections go after a moment, the others when their response is sent, and
 * what is left after `graceMs` by force. Call it before `app.close()`, which takes away what requests still need.
 */
export async function drainHttp(listener: Drainable, graceMs: number): Promise<void> {
  const server = listener.getHttpServer();
  if (!server.listening) return;
  const deadline = performance.now() + graceMs;
  await admitQueue(server, Math.min(ADMIT_MS, graceMs));
  // Not sooner: whoever is told to close connects again, and would stand in the queue just when it ends.
  listener.drain();
  // The method of http.Server would close idle connections at once, and with them requests that are on the wire.
  TcpServer.prototype.close.call(server);
  await pause(Math.min(LINGER_MS, graceMs));
  listener.connections.closeUnused();
  while (performance.now() < deadline) {
    server.closeIdleConnections();
    if ((await openConnections(server)) === 0) return;
    await pause(CHECK_MS);
  }
  server.closeAllConnections();
}
