import { connect, type Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { signed } from '../../../../bench/support/sign.js';
import type { Attack, Report } from './attack.js';

/** Clients that exhaust memory and time, in another process so that the measurement is unaffected. */

/** A client that reads nothing does not notice a closed connection, so that it closes it after this time. */
const HELD_MS = 20_000;
/** The pause before a reconnect, so that the attack does not consist of connecting alone. */
const AGAIN_MS = 250;
const LARGE = Buffer.alloc(1_048_575, 0x20);

const report: Record<string, number> = {};
const count = (what: string): void => {
  report[what] = (report[what] ?? 0) + 1;
};
let running = true;

function pageGet(who: Attack['merchant']): Buffer {
  const { path, headers } = signed(who, 'GET', '/merchants/v1/payouts');
  const names = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from([`GET ${path} HTTP/1.1`, 'host: 127.0.0.1', ...names, '', ''].join('\r\n'));
}

function largePost(apiKey: string): Buffer {
  const lines = [
    'POST /merchants/v1/payouts/report HTTP/1.1',
    'host: 127.0.0.1',
    'content-type: application/json',
    `svc-api-key: ${apiKey}`,
    `svc-timestamp: ${Math.floor(Date.now() / 1000)}`,
    `svc-signature: ${'0'.repeat(64)}`,
    `content-length: ${LARGE.length}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

function bytesOf(attack: Attack, place: number): readonly Buffer[] {
  switch (attack.kind) {
    case 'unread-mismatches':
    case 'read-mismatches':
      return [largePost(attack.merchant.apiKey), LARGE];
    case 'unread-pages':
      return [pageGet(attack.merchant)];
    case 'unfinished-bodies':
      // Half of them name an existing merchant, whose id is public.
      return [largePost(place % 2 === 0 ? attack.merchant.apiKey : randomUUID()), LARGE.subarray(1)];
  }
}

function open(attack: Attack, place: number): Socket {
  const localAddress = `127.0.1.${1 + (place % attack.addresses)}`;
  const socket = connect({ port: attack.port, host: '127.0.0.1', localAddress });
  socket.on('error', (error: NodeJS.ErrnoException) => count(error.code ?? 'error'));
  socket.on('connect', () => {
    count('connected');
    for (const bytes of bytesOf(attack, place)) socket.write(bytes);
  });
  return socket;
}

function hold(attack: Attack, place: number): void {
  if (!running) return;
  const socket = open(attack, place);
  const gaveUp = setTimeout(() => socket.destroy(), HELD_MS);
  socket.on('close', () => {
    clearTimeout(gaveUp);
    count('closed');
    setTimeout(() => hold(attack, place), AGAIN_MS);
  });
}

function exchange(attack: Attack, place: number): void {
  const socket = open(attack, place);
  let received = 0;
  socket.on('data', (chunk: Buffer) => {
    if (received === 0) count(`status ${chunk.toString('latin1', 9, 12)}`);
    received += chunk.length;
    // The padding of the body as integers ends like this.
    if (chunk.subarray(-2).toString() === ']}' || received < 2048) socket.end();
  });
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
