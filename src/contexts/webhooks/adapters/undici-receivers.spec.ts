import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import { TestReceiver } from '../../../../test/support/receiver.js';
import { ReceiverAddresses } from './receiver-addresses.js';
import { UndiciReceivers } from './undici-receivers.js';

const TIMEOUT_MS = 1000;
let receiver: TestReceiver;
let receivers: UndiciReceivers;
const servers: Server[] = [];
const post = (url: string, body = '{}') =>
  receivers.post(url, { 'content-type': 'application/json', 'x-test': '1' }, body);

beforeAll(async () => {
  receiver = await TestReceiver.start();
  const addresses = new ReceiverAddresses({ mode: 'sandbox', webhookAllowCidrs: null });
  receivers = new UndiciReceivers({ webhookTimeoutMs: TIMEOUT_MS }, addresses);
});
afterAll(async () => {
  await receivers.onApplicationShutdown();
  await receiver.stop();
  for (const server of servers) server.close();
});
beforeEach(() => {
  receiver.received.length = 0;
  receiver.answers(204);
});

/** A server below HTTP, for receivers that do not keep to it. */
async function raw(handle: (socket: Socket) => void): Promise<{ url: string; server: Server }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    handle(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

describe('a receiver that answers', () => {
  it('gets the body and the headers, and its status comes back', async () => {
    const answer = await post(`${receiver.url}/hooks?x=1`, '{"é":1}');
    expect(answer).toMatchObject({
      response: { kind: 'answered', status: 204, retryAfter: null },
      error: null,
    });
    expect(receiver.received).toMatchObject([
      { path: '/hooks?x=1', body: '{"é":1}', headers: { 'x-test': '1' } },
    ]);
  });

  it('is asked over connections that are kept', async () => {
    const ports = new Set<number | undefined>();
    receiver.behavior = (response) => {
      ports.add(response.socket?.remotePort);
      response.end('ok');
    };
    for (let index = 0; index < 5; index++) await post(receiver.url);
    expect(ports.size).toBeLessThan(3);
  });

  it('may ask for a pause', async () => {
    receiver.behavior = (response) => response.writeHead(503, { 'retry-after': '120' }).end();
    expect((await post(receiver.url)).response).toEqual({ kind: 'answered', status: 503, retryAfter: '120' });
  });

  it('is not followed elsewhere', async () => {
    receiver.behavior = (response) => response.writeHead(302, { location: `${receiver.url}/other` }).end();
    expect((await post(receiver.url)).response).toMatchObject({ status: 302 });
    expect(receiver.received).toHaveLength(1);
  });

  it('is kept with its first KiB, not decompressed', async () => {
    const zipped = gzipSync(Buffer.alloc(5_000_000));
    receiver.behavior = (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(zipped);
    expect((await post(receiver.url)).excerpt).toEqual(zipped.subarray(0, 1024));
  });

  it('is cut off after 64 KiB', async () => {
    let cut = false;
    receiver.behavior = (response) => {
      response.writeHead(200);
      response.on('close', () => (cut = true));
      const more = (): void => {
        if (!cut) response.write(Buffer.alloc(16_384), () => setImmediate(more));
      };
      more();
    };
    expect((await post(receiver.url)).response).toMatchObject({ status: 200 });
    await eventually(() => cut);
  });
});

describe('a receiver that fails', () => {
  it('by silence, ends in a timeout', async () => {
    receiver.behavior = () => undefined;
    const began = performance.now();
    expect((await post(receiver.url)).response).toEqual({ kind: 'failed', phase: 'timeout' });
    expect(performance.now() - began).toBeLessThan(TIMEOUT_MS * 3);
  });

  it('by dripping, ends in the same timeout', async () => {
    receiver.behavior = (response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(drip));
    };
    expect((await post(receiver.url)).response).toEqual({ kind: 'failed', phase: 'timeout' });
  });

  it('by refusing the connection, is told apart', async () => {
    const { url, server } = await raw(() => undefined);
    await new Promise((resolve) => server.close(resolve));
    expect(await post(url)).toMatchObject({
      response: { kind: 'failed', phase: 'connect' },
      error: 'the connection was refused (ECONNREFUSED)',
    });
  });

  it('by closing at once, is a failure of sending', async () => {
    const { url } = await raw((socket) => socket.destroy());
    expect((await post(url)).response).toEqual({ kind: 'failed', phase: 'send' });
  });

  it('by closing within the answer, is a failure of the answer', async () => {
    receiver.behavior = (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    };
    expect((await post(receiver.url)).response).toEqual({ kind: 'failed', phase: 'answer' });
  });

  it('by speaking something else, is a failure', async () => {
    const { url } = await raw((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    expect((await post(url)).response).toMatchObject({ kind: 'failed' });
  });

  it('by bad TLS, is told apart', async () => {
    const { url } = await raw((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
    expect((await post(url.replace('http:', 'https:'))).response).toEqual({ kind: 'failed', phase: 'tls' });
  });

  it.each(['', 'hooks', 'ftp://127.0.0.1/', 'http://'])(
    'by having no URL, such as %j, is a failure',
    async (url) => {
      expect((await post(url)).response).toEqual({ kind: 'failed', phase: 'address' });
    },
  );

  it('by a name that does not resolve, is told apart', async () => {
    expect((await post('https://nowhere.invalid/')).response).toMatchObject({ kind: 'failed', phase: 'dns' });
  });
});

describe('on the way to a receiver', () => {
  /** Sends to a name that resolves like this. */
  const toName = async (resolve: ReceiverAddresses['resolve'], webhookTimeoutMs = TIMEOUT_MS) => {
    const { port } = new URL(receiver.url);
    const addresses = Object.assign(Object.create(ReceiverAddresses.prototype) as ReceiverAddresses, {
      ...{ plainHttp: true, resolve },
    });
    const through = new UndiciReceivers({ webhookTimeoutMs }, addresses);
    const began = performance.now();
    const answer = await through.post(`http://hooks.example.com:${port}/secret`, {}, '{}');
    return { answer, tookMs: performance.now() - began, end: () => through.onApplicationShutdown() };
  };

  it('an address that refuses is followed by the next', async () => {
    const { answer, end } = await toName(() => Promise.resolve(['127.0.0.2', '127.0.0.1']));
    expect(answer.response).toMatchObject({ kind: 'answered', status: 204 });
    await end();
  });

  it('addresses are tried to the fourth', async () => {
    const refusing = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'];
    const { answer, end } = await toName(() => Promise.resolve([...refusing, '127.0.0.1']));
    expect(answer.response).toEqual({ kind: 'failed', phase: 'connect' });
    await end();
  });

  it('a look-up that never ends leaves nothing behind: the same deadline, and no connection later', async () => {
    let resolved!: (addresses: readonly string[]) => void;
    const { answer, tookMs, end } = await toName(() => new Promise((resolve) => (resolved = resolve)));
    expect(answer).toMatchObject({
      response: { kind: 'failed', phase: 'timeout' },
      error: 'timed out after 1 s, resolving the name',
    });
    expect(tookMs).toBeLessThan(TIMEOUT_MS * 3);
    resolved(['127.0.0.1']);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(receiver.received).toEqual([]);
    await end();
  });

  it('a look-up has a third of the time, which leaves some for the rest', async () => {
    const { answer, tookMs, end } = await toName((_host, signal) => {
      const late = Object.assign(new Error('hooks.example.com did not resolve'), { code: 'ETIMEOUT' });
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(late)));
    }, 3 * TIMEOUT_MS);
    expect(answer).toMatchObject({
      response: { kind: 'failed', phase: 'dns' },
      error: 'the name servers do not answer (ETIMEOUT)',
    });
    expect(tookMs).toBeLessThan(2.5 * TIMEOUT_MS);
    await end();
  });
});

describe('a receiver that may not be reached', () => {
  it('is never connected to, by address or by name', async () => {
    const strict = new UndiciReceivers(
      { webhookTimeoutMs: TIMEOUT_MS },
      new ReceiverAddresses({ mode: 'production', webhookAllowCidrs: null }),
    );
    const port = new URL(receiver.url).port;
    for (const host of [
      '127.0.0.1',
      'localhost',
      '[::ffff:127.0.0.1]',
      '2130706433',
      '0x7f.1',
      '127.0.0.1.',
    ]) {
      const answer = await strict.post(`http://${host}:${port}/`, {}, '{}');
      expect(answer).toMatchObject({ response: { kind: 'failed', phase: 'address' } });
    }
    expect(receiver.received).toEqual([]);
    await strict.onApplicationShutdown();
  });

  it('is one without TLS, outside the sandbox, whatever its address', async () => {
    const allowing = new ReceiverAddresses({ mode: 'production', webhookAllowCidrs: '127.0.0.1/32' });
    const strict = new UndiciReceivers({ webhookTimeoutMs: TIMEOUT_MS }, allowing);
    expect(await strict.post(receiver.url, {}, '{}')).toMatchObject({
      response: { kind: 'failed', phase: 'address' },
      error: 'must be an https:// URL',
    });
    expect(receiver.received).toEqual([]);
    await strict.onApplicationShutdown();
  });
});
