import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HostConnection } from './host-connection.js';
import { eventually } from '../../../test/support/eventually.js';

const LIMITS = { timeoutMs: 2000, bodyBytes: 65_536, keptBytes: 1024 };
const REQUEST = { method: 'POST', path: '/', headers: {}, body: '{}' } as const;
const OK = 'HTTP/1.1 200 OK\r\n';

let server: Server;
let connection: HostConnection;
let sockets: Socket[];
afterEach(async () => {
  await connection.destroy();
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** A connection to a host that does this with each of its sockets; its own sockets reach it a little late. */
async function connectionTo(behave: (socket: Socket) => void, lateMs = 0): Promise<HostConnection> {
  sockets = [];
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    sockets.push(socket);
    behave(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    if (lateMs > 0) await sleep(lateMs);
    return socket;
  };
  connection = new HostConnection(`http://127.0.0.1:${port}`, open, LIMITS, () => undefined);
  return connection;
}

const responds = (bytes: string) => (socket: Socket) => socket.on('data', () => socket.write(bytes));

describe('a connection that carried one response', () => {
  it.each([
    ['of no body', `${OK}content-length: 0\r\n\r\n`],
    ['of less than 64 KiB', `${OK}content-length: 65535\r\n\r\n${'a'.repeat(65_535)}`],
    ['in chunks', `${OK}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`],
  ])('%s carries the next', async (_what, bytes) => {
    const to = await connectionTo(responds(bytes));
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await to.send(REQUEST)).toMatchObject({ status: 200 });
      expect(to.usable).toBe(true);
    }
    expect(sockets).toHaveLength(1);
  });

  it.each([
    ['of 64 KiB and more', `${OK}content-length: 65537\r\n\r\n${'a'.repeat(65_537)}`],
    ['that was to be its last', `${OK}connection: close\r\ncontent-length: 0\r\n\r\n`],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['with something after it', `${OK}content-length: 2\r\n\r\nok!`],
  ])('%s carries no other', async (_what, bytes) => {
    const to = await connectionTo(responds(bytes));
    expect(await to.send(REQUEST)).toMatchObject({ status: 200 });
    expect(to.usable).toBe(false);
  });

  it.each(['HTTP/1.1 500 Poison\r\n\r\n', 'H', '\r\n'])('and hears %j unasked is closed', async (surplus) => {
    const to = await connectionTo(responds(`${OK}content-length: 0\r\n\r\n`));
    await to.send(REQUEST);
    const closed = once(sockets[0]!, 'close');
    sockets[0]!.write(surplus);
    await closed;
    await eventually(() => !to.usable);
  });
});

describe('a host that does not wait for its request', () => {
  it('and speaks first, is connected to once', async () => {
    const to = await connectionTo((socket) => socket.write(`${OK}content-length: 0\r\n\r\n`), 50);
    expect(await to.send(REQUEST)).toMatchObject({
      ...{ kind: 'failed', phase: 'response' },
      error: 'the host sent something before it was asked',
    });
    expect(sockets).toHaveLength(1);
  });

  it('and closes first, is connected to once', async () => {
    const to = await connectionTo((socket) => socket.end(), 50);
    expect(await to.send(REQUEST)).toMatchObject({ kind: 'failed', phase: 'send' });
    expect(sockets).toHaveLength(1);
  });
});

/** Whole responses, to be spoilt. */
const RESPONSES = [
  `${OK}content-length: 5\r\n\r\nhello`,
  `${OK}transfer-encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nx-trailer: 1\r\n\r\n`,
  `HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n${OK}retry-after: 5\r\n\r\nuntil the end`,
  'HTTP/1.1 503 Later\r\nretry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\ncontent-length: 0\r\n\r\n',
];

/** One of them with bytes changed, left out, doubled or put in, and sent in pieces. */
const spoilt = fc
  .tuple(
    fc.constantFrom(...RESPONSES),
    fc.array(
      fc.tuple(fc.nat(150), fc.nat(3), fc.constantFrom('\0', '\r', '\n', ' ', ':', '0', 'f', '-', '\xff')),
      {
        maxLength: 4,
      },
    ),
    fc.nat(150),
  )
  .map(([response, changes, cut]) => {
    let bytes = response;
    for (const [at, kind, put] of changes) {
      const left = bytes.slice(0, at);
      const rest = [put + bytes.slice(at + 1), bytes.slice(at + 1), bytes.slice(at, at + 9), put][kind]!;
      bytes = left + rest + (kind < 2 ? '' : bytes.slice(at));
    }
    return [bytes.slice(0, cut), bytes.slice(cut)] as const;
  });

it('whatever comes back, the request ends at once, over one connection, with a status or a class of failure', async () => {
  let pieces: readonly [string, string] = ['', ''];
  const behave = (socket: Socket): void =>
    void socket.once('data', () => {
      socket.write(Buffer.from(pieces[0], 'latin1'));
      setImmediate(() => socket.end(Buffer.from(pieces[1], 'latin1')));
    });
  await fc.assert(
    fc
      .asyncProperty(spoilt, async (drawn) => {
        pieces = drawn;
        const to = await connectionTo(behave);
        const began = performance.now();
        const result = await to.send(REQUEST);
        expect(performance.now() - began).toBeLessThan(LIMITS.timeoutMs / 2);
        if (result.kind === 'failed') {
          expect(['send', 'response']).toContain(result.phase);
          expect(result.error).toMatch(/^[a-z]/);
        } else {
          expect(result.status).toBeGreaterThanOrEqual(200);
          expect(result.body.length).toBeLessThan(200);
        }
        expect(sockets).toHaveLength(1);
      })
      .afterEach(async () => {
        await connection.destroy();
        server.close();
      }),
    { numRuns: 200 },
  );
});
