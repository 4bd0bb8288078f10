import { afterEach, describe, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { eventually, WAIT_MS } from '../test/support/eventually.js';
import { specFolder } from '../test/support/run-folder.js';
import { readConfig } from '../src/composition.js';
import { lockDataDir } from './data-dir-lock.js';
import { prepareSandbox, type Sandbox } from './prepare.js';
import { freePort, isAlive } from './processes.js';
import { serverUser } from './server-user.js';
import { FREE_PORTS } from '../test/support/free-ports.js';

const sandboxes: Sandbox[] = [];
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const sandbox of sandboxes.splice(0)) await sandbox.stop();
});

async function prepare(env: Record<string, string>): Promise<Sandbox> {
  const sandbox = await prepareSandbox(readConfig({ ...FREE_PORTS, ...env }));
  sandboxes.push(sandbox);
  return sandbox;
}

function idleProcess(): ChildProcess {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)']);
  children.push(child);
  return child;
}

describe('prepareSandbox', () => {
  test('completes the configuration, stops what it started, and reuses the same sandbox on the next start', async () => {
    const dataDir = specFolder('sandbox');
    const { config, stop } = await prepare({ DATA_DIR: dataDir });
    expect(config.databaseUrl).toMatch(/^postgres:\/\/disburse:[0-9a-f]{48}@127\.0\.0\.1:\d+\/disburse$/);
    expect(config.masterKey).toMatch(/^[0-9a-f]{64}$/);
    expect(config.usdcAddress).toMatch(/^0x[0-9a-fA-F]{40}$/);
    for (const port of [config.port, config.widgetPort, config.payPort, config.metricsPort]) {
      expect(port).toBeGreaterThan(0);
    }
    expect(statSync(join(dataDir, 'secrets.json')).mode & 0o777).toBe(0o600);
    const anvil = JSON.parse(readFileSync(join(dataDir, 'chain', 'chain.json'), 'utf8')) as { pid: number };
    await stop();
    expect(isAlive(anvil.pid)).toBe(false);
    expect(existsSync(join(dataDir, 'service.pid'))).toBe(false);
    await expect(fetch(config.chainRpcUrl!)).rejects.toThrow();

    const { masterKey, usdcAddress, databaseUrl } = config;
    expect((await prepare({ DATA_DIR: dataDir })).config).toMatchObject({
      masterKey,
      usdcAddress,
      databaseUrl,
    });
  });

  test('starts PostgreSQL and the chain again on their ports when they are killed', async () => {
    const dataDir = specFolder('sandbox');
    const { config } = await prepare({ DATA_DIR: dataDir });
    const [postmaster] = readFileSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8').split(
      '\n',
    );
    const anvil = JSON.parse(readFileSync(join(dataDir, 'chain', 'chain.json'), 'utf8')) as { pid: number };
    process.kill(Number(postmaster), 'SIGKILL');
    process.kill(anvil.pid, 'SIGKILL');
    const responding = async (): Promise<boolean> => {
      const client = new pg.Client({ connectionString: config.databaseUrl! });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.end();
        return (await fetch(config.chainRpcUrl!, { method: 'POST' })).status > 0;
      } catch {
        return false;
      }
    };
    await eventually(responding);
  });

  test('names the setting of every port that is in use', async () => {
    const ports = [await freePort(), await freePort()];
    const squatters = ports.map((port) => createServer().listen(port, '127.0.0.1'));
    const dataDir = specFolder('sandbox');
    const failed = prepare({ DATA_DIR: dataDir, PORT: String(ports[0]), WIDGET_PORT: String(ports[1]) });
    await expect(failed).rejects.toThrow(
      new RegExp(
        `Port ${ports[0]} is in use .* PORT .* the port of the API.*\n` +
          `Port ${ports[1]} is in use .* WIDGET_PORT .* the port of the onboarding widget`,
      ),
    );
    expect(existsSync(join(dataDir, 'service.pid'))).toBe(false);
    for (const squatter of squatters) squatter.close();
  });

  test('refuses to run in production', async () => {
    const config = { ...readConfig({ DATA_DIR: specFolder('sandbox') }), mode: 'production' as const };
    await expect(prepareSandbox(config)).rejects.toThrow('do not run with MODE=production');
  });

  test('does not start the parts that are configured by URL', async () => {
    const given = await prepare({ DATA_DIR: specFolder('sandbox') });
    const dataDir = specFolder('sandbox');
    const { config } = await prepare({
      DATA_DIR: dataDir,
      DATABASE_URL: given.config.databaseUrl!,
      CHAIN_RPC_URL: given.config.chainRpcUrl!,
      MASTER_KEY: given.config.masterKey!,
    });
    expect(config.databaseUrl).toBe(given.config.databaseUrl);
    expect(config.usdcAddress).toBe(given.config.usdcAddress);
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
    expect(existsSync(join(dataDir, 'chain'))).toBe(false);
  });
});

describe('the lock on DATA_DIR', () => {
  test('names its holder, and is free once the holder is killed', async () => {
    const dataDir = specFolder('lock');
    const holder = idleProcess();
    const stat = readFileSync(`/proc/${holder.pid}/stat`, 'utf8');
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    writeFileSync(join(dataDir, 'service.pid'), JSON.stringify({ pid: holder.pid, started }));
    await expect(lockDataDir(dataDir, 0)).rejects.toThrow(
      `already running in ${dataDir} (process ${holder.pid})`,
    );
    const freed = lockDataDir(dataDir, WAIT_MS);
    holder.kill('SIGKILL');
    (await freed)();
  });

  test('is free when another process has reused the id of the killed holder', async () => {
    const dataDir = specFolder('lock');
    const stranger = idleProcess();
    writeFileSync(join(dataDir, 'service.pid'), JSON.stringify({ pid: stranger.pid, started: '1' }));
    (await lockDataDir(dataDir, 0))();
  });
});

describe('serverUser', () => {
  const asRoot = process.getuid?.() === 0 ? test : test.skip;

  asRoot('is postgres if that user exists, otherwise nobody', () => {
    const passwd = 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65533::/:/bin/false\n';
    expect(serverUser(() => passwd)).toEqual({ uid: 65534, gid: 65533 });
    expect(serverUser(() => `${passwd}postgres:x:101:104::/:/bin/sh\n`)).toEqual({ uid: 101, gid: 104 });
    expect(() => serverUser(() => 'root:x:0:0::/root:/bin/sh\n')).toThrow('set DATABASE_URL');
  });
});
