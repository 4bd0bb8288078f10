import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from '@jest/globals';
import { onTestApp } from '../../support/app.js';

/** More than the 511 that Node lets wait to be accepted, fewer than MAX_CONNECTIONS. */
const CLIENTS = 1200;
/** How long the process does nothing, and after which part of that the clients count. */
const BUSY_MS = 5000;
const COUNTED_MS = 4000;

/**
 * Says that it is ready, opens all connections at once and sends a request on each. Prints how many were open after a while,
 * and how often each outcome was there.
 */
const BURST = `
import { connect } from 'node:net';
const [, url, clients, countedMs] = process.argv;
const { port, hostname } = new URL(url);
console.log('ready');
let open = 0;
const countedLater = new Promise((resolve) => setTimeout(() => resolve(open), Number(countedMs)));
const outcome = () => new Promise((resolve) => {
  const socket = connect(Number(port), hostname, () => (open += 1));
  socket.setEncoding('latin1');
  socket.on('error', ({ code }) => resolve(code));
  socket.on('close', () => resolve('closed'));
  socket.on('data', (response) => { resolve(response.slice(9, 12)); socket.destroy(); });
  socket.write('GET /health/live HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n');
});
const outcomes = {};
for (const each of await Promise.all(Array.from({ length: Number(clients) }, outcome)))
  outcomes[each] = (outcomes[each] ?? 0) + 1;
console.log(JSON.stringify({ open: await countedLater, outcomes }));
`;

const service = onTestApp({ MAX_CONNECTIONS_PER_IP: '2000' });

let child: ChildProcess | null = null;
afterEach(() => void child?.kill('SIGKILL'));

// Linux lets 4096 wait; elsewhere the system lets fewer.
const onLinux = process.platform === 'linux' ? it : it.skip;
onLinux(
  'clients that come at once while the process is busy are connected, and have their responses after it',
  async () => {
    const args = ['--input-type=module', '-e', BURST, service.url, String(CLIENTS), String(COUNTED_MS)];
    const clients = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    child = clients;
    await once(clients.stdout, 'data');
    const printed = text(clients.stdout);
    // This is the service's process, too.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS);
    expect(JSON.parse(await printed)).toEqual({ open: CLIENTS, outcomes: { '200': CLIENTS } });
  },
);
