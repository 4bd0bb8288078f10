import { connect, type Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { signed } from '../../../../bench/support/sign.js';
import type { Attack, Report } from './attack.js';

/*
 * Clients that take a service's memory and time, as a process of its own: it must not slow down who measures. Each
 * connection that ends is opened anew, and each ends after a while.
 */

/** A client that reads nothing does not see that it was closed: it gives up after this long. */
const HELD_MS = 20_000;
/** A moment before a connection is opened again, so that the attack is not one of connecting alone. */
const AGAIN_MS = 250;
const LARGE = Buffer.alloc(1_048_575, 0x20);

const report: Record<string, number> = {};
const count = (what: string): void => {
  report[what] = (report[what] ?? 0) + 1;
};
let running = true;

function addressOf({ addresses }: Attack, place: number): string {
  return `127.0.1.${1 + (place % addresses)}`;
}

function head(lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

/** The head of a POST of a megabyte with a signature that is none. */
function largePost(apiKey: string): Buffer {
  return head([
    'POST /merchants/v1/payouts/report HTTP/1.1',
    'host: 127.0.0.1',
    'content-type: application/json',
    `svc-api-key: ${apiKey}`,
    `svc-timestamp: ${Math.floor(Date.now() / 1000)}`,
    `svc-signature: ${'0'.repeat(64)}`,
    `content-length: ${LARGE.length}`,
  ]);
}

/** What a connection sends; it reads nothing unless the attack is one that reads. */
function bytesOf(attack: Attack, place: number): readonly Buffer[] {
  switch (attack.kind) {
    case 'unread-mismatches':
    case 'read-mismatches':
      return [largePost(attack.merchant.apiKey), LARGE];
    case 'unread-pages': {
      const { path, headers } = signed(attack.merchant, 'GET', '/merchants/v1/payouts');
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      return [head([`GET ${path} HTTP/1.1`, 'host: 127.0.0.1', ...lines])];
    }
    case 'unfinished-bodies':
      // Half of them name a merchant that there is: the public id is no secret.
      return [largePost(place % 2 === 0 ? attack.merchant.apiKey : randomUUID()), LARGE.subarray(1)];
  }
}

function hold(attack: Attack, place: number): void {
  if (!running) return;
  const socket = connect({ port: attack.port, host: '127.0.0.1', localAddress: addressOf(attack, place) });
  socket.on('error', (error: NodeJS.ErrnoException) => count(error.code ?? 'error'));
  socket.on('connect', () => {
    count('connected');
    for (const bytes of bytesOf(attack, place)) socket.write(bytes);
  });
  const givenUp = setTimeout(() => socket.destroy(), HELD_MS);
  socket.on('close', () => {
    clearTimeout(givenUp);
    count('closed');
    setTimeout(() => hold(attack, place), AGAIN_MS);
  });
}

/** One exchange that is read to its end, on a connection of its own. */
function exchange(attack: Attack, place: number): Socket {
  const socket = connect({ port: attack.port, host: '127.0.0.1', localAddress: addressOf(attack, place) });
  let received = 0;
  socket.on('error', (error: NodeJS.ErrnoException) => count(error.code ?? 'error'));
  socket.on('connect', () => {
    for (const bytes of bytesOf(attack, place)) socket.write(bytes);
  });
  socket.on('data', (chunk: Buffer) => {
    if (received === 0) count(`status ${chunk.toString('latin1', 9, 12)}`);
    received += chunk.length;
    // The padding of the body as integers ends like this.
    if (chunk.subarray(-2).toString() === ']}' || received < 2048) socket.end();
  });
  return socket;
}

process.on('message', (attack: Attack | 'stop') => {
  if (attack === 'stop') {
    running = false;
    process.send!(report satisfies Report, () => process.exit());
  } else if (attack.kind === 'read-mismatches') {
    let place = 0;
    setInterval(() => exchange(attack, place++), 1000 / attack.connections);
  } else {
    for (let place = 0; place < attack.connections; place += 1) hold(attack, place);
  }
});
process.on('disconnect', () => process.exit());
