import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { WAIT_MS } from '../../../test/support/eventually.js';
import { TestReceiver } from '../../../test/support/webhooks/receiver.js';
import { parseCidrs } from '../config/cidrs.js';
import { GuardedHosts, type OperatorHosts } from './guarded-hosts.js';
import { OutboundClient } from './outbound-client.js';
import { RequestFailure } from './request-failure.js';

const LIMITS = { timeoutMs: WAIT_MS, bodyBytes: 65_536, keptBytes: 1024 };
let host: TestReceiver;
let client: OutboundClient;
const servers: Server[] = [];
const post = (url: string, body = '{}') =>
  client.post(url, { 'content-type': 'application/json', 'x-test': '1' }, body);

beforeAll(async () => {
  host = await TestReceiver.start();
  const hosts = new GuardedHosts({ loopback: true, allowed: [] });
  client = new OutboundClient(hosts, LIMITS);
});
afterAll(async () => {
  await client.close();
  await host.stop();
  for (const server of servers) server.close();
});
beforeEach(() => {
  host.received.length = 0;
  host.respondWith(204);
});

/** Starts a TCP server, for hosts that violate HTTP. */
async function raw(
  handle: (socket: Socket) => void,
  at = { host: '127.0.0.1', port: 0 },
): Promise<{ url: string; server: Server }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    handle(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(at, resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

describe('a request to a host that responds', () => {
  it('delivers the body and the headers and returns the status', async () => {
    const result = await post(`${host.url}/hooks?x=1`, '{"é":1}');
    expect(result).toMatchObject({ kind: 'response', status: 204, retryAfter: null });
    expect(host.received).toMatchObject([
      { path: '/hooks?x=1', body: '{"é":1}', headers: { 'x-test': '1' } },
    ]);
  });
});

describe('a request that fails', () => {
  it('reports a refused connection as phase `connect`', async () => {
    const { url, server } = await raw(() => undefined);
    await new Promise((resolve) => server.close(resolve));
    expect(await post(url)).toMatchObject({
      kind: 'failed',
      phase: 'connect',
      error: 'the connection was refused (ECONNREFUSED)',
    });
  });

  it.each(['', 'hooks', 'ftp://127.0.0.1/', 'http://'])(
    'reports an invalid URL such as %j as phase `address`',
    async (url) => {
      expect(await post(url)).toMatchObject({ kind: 'failed', phase: 'address' });
    },
  );
});

describe('a request to a host name', () => {
  /** Sends a request to a host name that `resolve` resolves. */
  const toName = async (resolve: OperatorHosts['resolve'], timeoutMs = LIMITS.timeoutMs) => {
    const { port } = new URL(host.url);
    const through = new OutboundClient({ plainHttp: true, resolve }, { ...LIMITS, timeoutMs });
    const result = await through.post(`http://hooks.example.com:${port}/secret`, {}, '{}');
    return { result, end: () => through.close() };
  };

  it('tries the next address if the first refuses the connection', async () => {
    const { result, end } = await toName(() => Promise.resolve(['127.0.0.2', '127.0.0.1']));
    expect(result).toMatchObject({ kind: 'response', status: 204 });
    await end();
  });

  it('tries the next address if the first stalls within TLS for a sixth of the timeout', async () => {
    const { url } = await raw((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
    const { port } = new URL(url);
    await raw((socket) => socket.resume(), { host: '127.0.0.2', port: Number(port) });
    const resolve = () => Promise.resolve(['127.0.0.2', '127.0.0.1']);
    const through = new OutboundClient({ plainHttp: true, resolve }, { ...LIMITS, timeoutMs: 6000 });
    const result = await through.post(`https://hooks.example.com:${port}/`, {}, '{}');
    expect(result).toMatchObject({ kind: 'failed', phase: 'tls' });
    await through.close();
  });

  it('tries at most four addresses', async () => {
    const refusing = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'];
    const { result, end } = await toName(() => Promise.resolve([...refusing, '127.0.0.1']));
    expect(result).toMatchObject({ kind: 'failed', phase: 'connect' });
    await end();
  });

  it('ends at its deadline if DNS does not respond, and opens no connection afterwards', async () => {
    let resolved!: (addresses: readonly string[]) => void;
    const { result, end } = await toName(() => new Promise((resolve) => (resolved = resolve)), 1000);
    expect(result).toMatchObject({
      kind: 'failed',
      phase: 'timeout',
      error: 'timed out after 1 s, resolving the name',
    });
    resolved(['127.0.0.1']);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(host.received).toEqual([]);
    await end();
  });

  it('allows DNS only a third of the timeout, so that the connection still has time', async () => {
    let given = Infinity;
    const { result, end } = await toName((_host, timeoutMs) => {
      given = timeoutMs;
      return Promise.reject(new RequestFailure('dns', 'the name servers do not respond (ETIMEOUT)'));
    });
    expect(result).toMatchObject({
      kind: 'failed',
      phase: 'dns',
      error: 'the name servers do not respond (ETIMEOUT)',
    });
    expect(given).toBeLessThanOrEqual(LIMITS.timeoutMs / 3);
    await end();
  });
});

describe('the check of the host of a request', () => {
  it('refuses localhost and every form of a loopback address, and opens no connection', async () => {
    const strict = new OutboundClient(new GuardedHosts({ loopback: false, allowed: [] }), LIMITS);
    const port = new URL(host.url).port;
    const names = ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '127.0.0.1.'];
    for (const name of names) {
      const result = await strict.post(`http://${name}:${port}/`, {}, '{}');
      expect(result).toMatchObject({ kind: 'failed', phase: 'address' });
    }
    expect(host.received).toEqual([]);
    await strict.close();
  });

  it('cannot be evaded by DNS rebinding, because each connection uses the checked address', async () => {
    const places = ['127.0.0.1', '10.0.0.1', '127.0.0.1'];
    const findAddresses = async () => [places.shift()!];
    const guarded = Object.assign(new GuardedHosts({ loopback: true, allowed: [] }), { findAddresses });
    const through = new OutboundClient(guarded, LIMITS);
    const { port } = new URL(host.url);
    const send = () => through.post(`http://hooks.example.com:${port}/`, {}, '{}');
    host.behavior = (response) => response.writeHead(204, { connection: 'close' }).end();
    expect(await send()).toMatchObject({ status: 204 });
    expect(places).toHaveLength(2);
    expect(await send()).toMatchObject({ kind: 'failed', phase: 'address' });
    expect(host.received).toHaveLength(1);
    expect(await send()).toMatchObject({ status: 204 });
    await through.close();
  });

  it('refuses plain http outside of the sandbox, even to an allowed address', async () => {
    const allowing = new GuardedHosts({ loopback: false, allowed: parseCidrs('127.0.0.1/32') });
    const strict = new OutboundClient(allowing, LIMITS);
    expect(await strict.post(host.url, {}, '{}')).toMatchObject({
      kind: 'failed',
      phase: 'address',
      error: 'must be an https:// URL',
    });
    expect(host.received).toEqual([]);
    await strict.close();
  });
});
