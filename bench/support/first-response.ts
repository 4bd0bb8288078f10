import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often a process that is starting is asked; cheap, so that the asking does not slow the start. */
const EVERY_MS = 4;

/** Resolves when GET `path` on the loopback port returns 200 for the first time. Throws after `patienceMs`. */
export async function firstResponse(port: number, path: string, patienceMs = 60_000): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await ask(port, path))) {
    if (performance.now() > deadline) throw new Error(`port ${port} was not ready in ${patienceMs / 1000} s`);
    await sleep(EVERY_MS);
  }
}

function ask(port: number, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () =>
      socket.write(`GET ${path} HTTP/1.1\r\nhost: bench\r\nconnection: close\r\n\r\n`),
    );
    socket.once('data', (chunk) => {
      resolve(chunk.toString('latin1').startsWith('HTTP/1.1 200'));
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
