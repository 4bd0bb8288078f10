import { createServer, type AddressInfo } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { dropTestDatabase, testDatabaseUrl } from '../../../test/support/postgres.js';
import { Database } from './database.js';
import { isDatabaseUnavailable, outliveConnections } from './unavailable.js';

/** A message of the PostgreSQL protocol: its letter, its length, its body. */
function message(letter: string, body: string): Buffer {
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, Buffer.from(body, 'latin1')]);
}

/** A server that is killed after its welcome to a client. */
const dying = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.once('data', () => {
    const welcome = [message('R', '\0\0\0\0'), message('Z', 'I')];
    socket.end(Buffer.concat([...welcome, message('E', 'SFATAL\0C57P01\0Mgoing away\0\0')]));
  });
});

afterAll(() => {
  dying.close();
});

test('a database server that dies after it accepted a client fails the query, not the process', async () => {
  await new Promise<void>((resolve) => dying.listen(0, '127.0.0.1', resolve));
  const { port } = dying.address() as AddressInfo;
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'somebody', database: 'something' });
  outliveConnections(pool);
  const client = await pool.connect();
  await expect(client.query('select 1')).rejects.toThrow();
  client.release(true);
  await pool.end();
});

test('a write on a standby counts as an unavailable database, and its connection is closed', async () => {
  const url = await testDatabaseUrl();
  const database = await Database.connect({ url, poolSize: 1 });
  const write = database.transaction(async (tx) => {
    await tx.query('set transaction read only');
    await tx.query('create table lanes (id int primary key)');
  });
  expect(await write.then(() => 'committed', isDatabaseUnavailable)).toBe(true);
  expect(database.pool.totalCount).toBe(0);
  await database.close();
  await dropTestDatabase(url);
});
