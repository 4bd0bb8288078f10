import { afterEach, describe, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { specFolder } from '../test/support/run-folder.js';
import { postgresHome } from './binaries.js';
import type { PostgresOptions } from './postgres-cluster.js';
import { placePostgres } from './postgres-place.js';
import { ensureDatabase, startPostgres, type RunningPostgres } from './postgres.js';
import { isAlive } from './processes.js';
import { serverUser } from './server-user.js';

const running: RunningPostgres[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

async function start(options: Partial<PostgresOptions> & { dir: string }): Promise<RunningPostgres> {
  const server = await startPostgres({
    home: postgresHome(),
    password: 'a long secret',
    durable: false,
    user: serverUser(),
    ...options,
  });
  running.push(server);
  return server;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

describe('the embedded PostgreSQL', () => {
  test('is created on the first start and reused with its data from then on', async () => {
    const dir = specFolder('postgres');
    const pidFile = join(dir, 'data', 'postmaster.pid');
    const first = await start({ dir });
    expect(first.origin).toBe('created');
    await ensureDatabase(first, 'kept');
    await query(first.url('kept'), 'create table t as select 42 as n');
    const stranger = first.url('postgres').replace(':a long secret@', ':guess@');
    await expect(query(stranger, 'select 1')).rejects.toThrow('password authentication failed');
    expect(await query(first.url('postgres'), 'show password_encryption')).toEqual(['scram-sha-256']);

    const adopted = await start({ dir });
    expect(adopted).toMatchObject({ origin: 'adopted', pid: first.pid, port: first.port });
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);
    // A killed process may have left a number that belongs to somebody else now.
    writeFileSync(pidFile, `${process.pid}\n${dir}\n0\n5432\n\n\n\nready\n`);

    const second = await start({ dir, port: first.port });
    expect(second).toMatchObject({ origin: 'restarted', port: first.port });
    expect(await query(second.url('kept'), 'select n from t')).toEqual([42]);
    await second.stop();

    const squatter = await listen(first.port);
    const elsewhere = await start({ dir, port: first.port });
    expect(elsewhere.port).not.toBe(first.port);
    expect(elsewhere.port).toBeLessThan(32_768);
    await new Promise((resolve) => squatter.close(resolve));
  });

  test('is created again when the creation of its cluster was interrupted', async () => {
    const dir = specFolder('postgres');
    mkdirSync(join(dir, 'data'));
    writeFileSync(join(dir, 'data', 'PG_VERSION'), '18');
    expect((await start({ dir })).origin).toBe('created');
  });

  const asRoot = process.getuid?.() === 0 ? test : test.skip;

  asRoot('uses a folder in /var/tmp if its user cannot read DATA_DIR, and finds it again', async () => {
    const dataDir = join(specFolder('closed'), 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    const place = await placePostgres(dataDir, serverUser());
    expect(place.dir).toMatch(/^\/var\/tmp\//);
    await start(place);
    expect(await placePostgres(dataDir, serverUser())).toEqual(place);
    expect(readFileSync(join(place.dir, 'belongs-to'), 'utf8')).toBe(dataDir);

    // With DATA_DIR gone the next one to move out cleans up, the running server included.
    rmSync(dataDir, { recursive: true });
    const other = join(specFolder('closed'), 'data');
    mkdirSync(other, { mode: 0o700 });
    const otherPlace = await placePostgres(other, serverUser());
    expect(existsSync(place.dir)).toBe(false);
    rmSync(otherPlace.dir, { recursive: true });
  });
});

function listen(port: number): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
