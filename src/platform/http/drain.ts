import { Server as TcpServer } from 'node:net';
import type { Server } from 'node:http';
import type { EdgeAdapter } from './fastify-adapter.js';

/**
 * How long the listener stays open: who stands in its queue is connected as far as he knows, and may have sent his
 * request; closing at once would reset him. Longer than the queue takes, shorter than anybody waits for the exit.
 */
const ADMIT_MS = 100;
/** How long an idle keep-alive connection stays: a request already on its way through it is still answered. */
const LINGER_MS = 500;
const CHECK_MS = 50;

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function openConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}

/** A whole turn of the event loop: whatever waits at its sockets has been taken. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Ends the listener without cutting anybody off. No new connections after a moment; every answer from now on says `connection: close`;
 * idle connections go after a moment, the others when their request is answered, and what is left after `graceMs` by
 * force. Call it before `app.close()`, which takes away what requests under way still need.
 */
export async function drainHttp(adapter: EdgeAdapter, graceMs: number): Promise<void> {
  const server = adapter.getHttpServer<Server>();
  if (!server.listening) return;
  const deadline = performance.now() + graceMs;
  await pause(Math.min(ADMIT_MS, graceMs));
  await turn();
  await turn();
  // Not sooner: whoever is told to close connects again, and would stand in the queue just when it ends.
  adapter.edge.drain();
  // The method of http.Server would close idle connections at once, and with them requests that are on the wire.
  TcpServer.prototype.close.call(server);
  await pause(Math.min(LINGER_MS, graceMs));
  while (performance.now() < deadline) {
    server.closeIdleConnections();
    if ((await openConnections(server)) === 0) return;
    await pause(CHECK_MS);
  }
  server.closeAllConnections();
}
