import { afterEach, describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rpc, startChain } from '../../../sandbox/chain.js';
import { freePort, isAlive, until } from '../../../sandbox/processes.js';
import type { SandboxFile } from '../../../sandbox/announce.js';
import { CHAIN_ID } from '../../support/payouts/chain.js';
import { eventually, WAIT_MS } from '../../support/eventually.js';
import { TestRedis } from '../../support/programs/redis.js';
import { TestProcess } from '../../support/programs/test-process.js';
import { specFolder } from '../../support/run-folder.js';
import { SignedClient } from '../../support/http/signed-client.js';
import { FREE_PORTS } from '../../support/free-ports.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Enough for booting and stopping a whole sandbox, in some tests twice. */
const TEST_MS = 4 * WAIT_MS;

const runs: TestProcess[] = [];

afterEach(async () => {
  for (const each of runs.splice(0)) await each.end('SIGTERM');
});

function run(script: string, env: Record<string, string>): TestProcess {
  const started = new TestProcess(process.execPath, [join(ROOT, 'scripts', script)], {
    cwd: ROOT,
    env: { ...process.env, ...FREE_PORTS, NO_COLOR: '1', ...env },
  });
  runs.push(started);
  return started;
}

async function startSandbox(
  dataDir: string,
  env: Record<string, string> = {},
): Promise<[TestProcess, SandboxFile]> {
  const started = run('start.mjs', { DATA_DIR: dataDir, ...env });
  const ready = await until(
    () => started.text.includes('npm run demo') || started.child.exitCode !== null,
    WAIT_MS,
  );
  if (!ready || started.child.exitCode !== null) throw new Error(started.text);
  return [started, JSON.parse(readFileSync(join(dataDir, 'sandbox.json'), 'utf8')) as SandboxFile];
}

async function payouts(sandbox: SandboxFile): Promise<unknown[]> {
  const { api_key, private_key } = sandbox.merchant;
  const client = new SignedClient(sandbox.base_url, { apiKey: api_key, privateKey: private_key });
  return (await client.get('/merchants/v1/payouts')).json<{ payouts: unknown[] }>().payouts;
}

describe('npm start', () => {
  test(
    'boots the sandbox, keeps keys and payouts after kill -9, and stops even if Redis is down',
    async () => {
      // The queue is in PostgreSQL if Redis is missing.
      const redis = await TestRedis.start();
      const queue: Record<string, string> = redis === null ? {} : { QUEUE_URL: redis.url };
      const dataDir = specFolder('sandbox');
      const [first, before] = await startSandbox(dataDir, queue);
      for (const line of [
        before.base_url,
        before.merchant.api_key,
        before.merchant.private_key,
        'npm run demo',
      ]) {
        expect(first.text).toContain(line);
      }
      const demo = run('demo.mjs', { DATA_DIR: dataDir });
      expect([await demo.ended, demo.text]).toEqual([0, expect.stringContaining('its signature verified')]);
      const recorded = await payouts(before);
      expect(recorded).toEqual([expect.objectContaining({ status: 'received', amount: '12.50' })]);

      process.kill(before.pid, 'SIGKILL');
      expect(await first.ended).toBe(1);
      expect(first.text).toContain('killed (SIGKILL)');

      const [second, after] = await startSandbox(dataDir, queue);
      expect(second.text).toContain('still running, adopted');
      expect(after.merchant).toEqual(before.merchant);
      expect(after.second_merchant).toEqual(before.second_merchant);
      expect(after.exchange).toEqual(before.exchange);
      expect(after.chain).toEqual(before.chain);
      expect(await payouts(after)).toEqual(recorded);

      await redis?.stop();
      second.child.kill('SIGINT');
      expect(await second.ended).toBe(0);
      expect(isAlive(after.pid)).toBe(false);
      expect(existsSync(join(dataDir, 'sandbox.json'))).toBe(false);
      await expect(fetch(after.chain.rpc_url)).rejects.toThrow();
    },
    TEST_MS,
  );

  test.each(['SIGINT', 'SIGKILL'] as const)(
    'leaves no server behind if it is stopped during the boot: %s',
    async (signal) => {
      const dataDir = specFolder('sandbox');
      const started = run('start.mjs', { DATA_DIR: dataDir });
      const chain = join(dataDir, 'chain', 'chain.json');
      await eventually(() => existsSync(chain));
      const { pid } = JSON.parse(readFileSync(chain, 'utf8')) as { pid: number };
      started.child.kill(signal);
      expect(await started.ended).toBe(signal === 'SIGINT' ? 130 : null);
      if (signal === 'SIGINT') expect(started.text).toContain('nothing is left running');
      // A service stops with its command.
      await eventually(() => !existsSync(join(dataDir, 'service.pid')));
      expect(isAlive(pid)).toBe(false);
      expect(existsSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'))).toBe(false);
    },
    TEST_MS,
  );

  test(
    'stops with a message for each of its ports that is in use, before it installs and builds',
    async () => {
      const [one, two] = [await freePort(), await freePort()];
      const squatters = [one, two].map((port) => createServer().listen(port, '127.0.0.1'));
      const ports = { PORT: String(one), PORTAL_PORT: String(two) };
      const failed = run('start.mjs', { DATA_DIR: specFolder('sandbox'), ...ports });
      expect(await failed.ended).toBe(78);
      expect(failed.text.replace(/\s+/g, ' ')).toMatch(
        new RegExp(
          `Port ${one} is in use .* set PORT to another .* Port ${two} .* set PORTAL_PORT to another`,
        ),
      );
      expect(failed.text).not.toContain('Dependencies');
      for (const squatter of squatters) squatter.close();
    },
    TEST_MS,
  );
});

test(
  'npm run demo starts a sandbox if none runs, and stops with a message if the service uses another chain',
  async () => {
    const chain = await startChain({ dir: specFolder('chain'), chainId: CHAIN_ID });
    const token = '0x00000000000000000000000000000000000000c0';
    // Code that returns 6 to every call, like a token with six decimals.
    await rpc(chain.rpcUrl, 'anvil_setCode', [token, '0x600660005260206000f3']);
    const dataDir = specFolder('sandbox');
    const demo = run('demo.mjs', {
      DATA_DIR: dataDir,
      CHAIN_RPC_URL: chain.rpcUrl,
      USDC_ADDRESS: token,
    });
    expect(await demo.ended).toBe(1);
    expect(demo.text).toContain('The demo pays from the sandbox chain');
    expect(existsSync(join(dataDir, 'service.pid'))).toBe(false);
  },
  TEST_MS,
);
