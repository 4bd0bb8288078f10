import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { WAIT_MS } from '../../../test/support/eventually.js';
import { OutboundClient } from './outbound-client.js';
import type { HttpResult } from './outbound-request.js';

const LIMITS = { timeoutMs: WAIT_MS, bodyBytes: 65_536, keptBytes: 1024 };
const HOSTS = { plainHttp: true, resolve: () => Promise.resolve(['127.0.0.1']) };
const OK = 'HTTP/1.1 200 OK\r\n';

let server: Server;
let client: OutboundClient;
let sockets: Socket[];
afterEach(async () => {
  await client.close();
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** Returns a function that sends to a host with this behavior. Each connection is used after `lateMs`. */
async function senderTo(behave: (socket: Socket) => void, lateMs = 0): Promise<() => Promise<HttpResult>> {
  sockets = [];
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    sockets.push(socket);
    behave(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  client = new OutboundClient(HOSTS, LIMITS);
  const connect = client['connect'].bind(client);
  client['connect'] = async (...to) => {
    const socket = await connect(...to);
    if (lateMs > 0) await sleep(lateMs);
    return socket;
  };
  return async () => {
    // In the tick in which a response ends its connection is not free yet.
    await sleep(10);
    return client.post(`http://127.0.0.1:${port}/`, {}, '{}');
  };
}

const responds = (bytes: string) => (socket: Socket) => socket.on('data', () => socket.write(bytes));

describe('a connection to a host', () => {
  it.each([
    ['without a body', `${OK}content-length: 0\r\n\r\n`],
    ['of less than 64 KiB', `${OK}content-length: 65535\r\n\r\n${'a'.repeat(65_535)}`],
    ['in chunks', `${OK}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`],
  ])('is reused after a response %s', async (_what, bytes) => {
    const send = await senderTo(responds(bytes));
    for (let n = 0; n < 3; n += 1) expect(await send()).toMatchObject({ status: 200 });
    expect(sockets).toHaveLength(1);
  });

  it.each([
    ['of 64 KiB and more', `${OK}content-length: 65537\r\n\r\n${'a'.repeat(65_537)}`],
    ['with `connection: close`', `${OK}connection: close\r\ncontent-length: 0\r\n\r\n`],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['with surplus bytes after its body', `${OK}content-length: 2\r\n\r\nok!`],
  ])('is not reused after a response %s', async (_what, bytes) => {
    const send = await senderTo(responds(bytes));
    expect(await send()).toMatchObject({ status: 200 });
    expect(await send()).toMatchObject({ status: 200 });
    expect(sockets).toHaveLength(2);
  });

  it.each(['HTTP/1.1 500 Poison\r\n\r\n', 'H', '\r\n'])(
    'is closed if it receives %j without a request',
    async (surplus) => {
      const send = await senderTo(responds(`${OK}content-length: 0\r\n\r\n`));
      await send();
      // Long before an idle connection ends.
      const closed = once(sockets[0]!, 'close', { signal: AbortSignal.timeout(WAIT_MS / 2) });
      sockets[0]!.write(surplus);
      await closed;
      expect(await send()).toMatchObject({ status: 200 });
      expect(sockets).toHaveLength(2);
    },
  );
});

describe('a host that does not wait for the request', () => {
  it('gets no second connection if it sends bytes first', async () => {
    const send = await senderTo((socket) => socket.write(`${OK}content-length: 0\r\n\r\n`), 50);
    expect(await send()).toMatchObject({
      kind: 'failed',
      phase: 'response',
      error: 'the host sent something before the request',
    });
    expect(sockets).toHaveLength(1);
  });

  it('gets no second connection if it closes the first one at once', async () => {
    const send = await senderTo((socket) => socket.end(), 50);
    expect(await send()).toMatchObject({ kind: 'failed', phase: 'send' });
    expect(sockets).toHaveLength(1);
  });
});
