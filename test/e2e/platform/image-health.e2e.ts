import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../../src/composition.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../../sandbox/processes.js';
import { startService } from '../../../sandbox/service.js';
import { TestChain } from '../../support/payouts/chain.js';
import { onTestDatabase } from '../../support/postgres.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** The command of the Dockerfile, without its first word `node`. */
const [, ...COMMAND] = JSON.parse(
  /HEALTHCHECK[\s\S]*?CMD (\[.*\])/.exec(readFileSync(`${ROOT}/Dockerfile`, 'utf8'))![1]!,
) as string[];
const MASTER_KEY = randomBytes(32).toString('hex');
const LISTENERS = ['PORT', 'WIDGET_PORT', 'PAY_PORT', 'ADMIN_PORT', 'PORTAL_PORT', 'METRICS_PORT'];

const chain = await TestChain.start();

describe('the health check of the image', () => {
  const db = onTestDatabase();

  afterAll(() => chain?.stop());

  it.each([
    ['worker', ['METRICS_PORT']],
    ['api,worker,widget,admin', ['PORT', 'WIDGET_PORT', 'PAY_PORT', 'ADMIN_PORT', 'METRICS_PORT']],
  ])('passes with the roles %s, and names the closed ports once the process ended', async (roles, open) => {
    const ports: Record<string, string> = {};
    for (const name of LISTENERS) ports[name] = String(await freePort());
    const config = readConfig({
      ...ports,
      MODE: 'production',
      PUBLIC_URL: 'https://api.example',
      LOG_LEVEL: 'silent',
      ROLES: roles,
      DATABASE_URL: db.url,
      DATABASE_POOL_SIZE: '6',
      CHAIN_RPC_URL: chain.rpcUrl,
      USDC_ADDRESS: chain.usdcAddress,
      MASTER_KEY,
    });
    const check = () =>
      new Promise((resolve) => {
        const env = { ...process.env, ...ports, ROLES: roles };
        execFile(process.execPath, COMMAND, { cwd: ROOT, env }, (error, _, errors) =>
          resolve([error?.code ?? 0, errors]),
        );
      });
    const service = await startService(config);
    try {
      expect(await check()).toEqual([0, '']);
      const metrics = `http://127.0.0.1:${ports['METRICS_PORT']}`;
      await eventually(async () => (await fetch(`${metrics}/health/ready`)).status === 200);
      expect((await fetch(`${metrics}/metrics`)).status).toBe(200);
    } finally {
      await service.close();
    }
    expect(await check()).toEqual([1, open.map((name) => `port ${ports[name]}: ECONNREFUSED\n`).join('')]);
  });
});
