import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../../src/composition.js';
import { freePort } from '../../../sandbox/processes.js';
import { startService } from '../../../sandbox/service.js';
import { TestChain } from '../../support/payouts/chain.js';
import { bash } from '../../support/programs/guide.js';
import { onTestDatabase } from '../../support/postgres.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** As the Dockerfile has it, so that a change there is tried here. */
const COMMAND = (
  JSON.parse(
    /HEALTHCHECK[\s\S]*?CMD (\[.*\])/.exec(readFileSync(`${ROOT}/Dockerfile`, 'utf8'))![1]!,
  ) as string[]
)
  .map((each) => `'${each}'`)
  .join(' ');

describe("the image's health check", () => {
  let chain: TestChain;
  const db = onTestDatabase();

  beforeAll(async () => {
    chain = await TestChain.start();
  });
  afterAll(() => chain?.stop());

  it.each(['api', 'worker', 'widget', 'admin', 'api,worker,widget,admin'])(
    'finds a process with the roles %s alive, and nobody where it has gone',
    async (roles) => {
      const ports = {
        PORT: String(await freePort()),
        WIDGET_PORT: String(await freePort()),
        PAY_PORT: String(await freePort()),
        ADMIN_PORT: String(await freePort()),
        PORTAL_PORT: String(await freePort()),
        METRICS_PORT: String(await freePort()),
      };
      const production = { MODE: 'production', PUBLIC_URL: 'https://api.example', LOG_LEVEL: 'silent' };
      const config = readConfig({
        ...production,
        ...ports,
        ROLES: roles,
        DATABASE_URL: db.url,
        DATABASE_POOL_SIZE: '6',
        CHAIN_RPC_URL: chain.rpcUrl,
        USDC_ADDRESS: chain.usdcAddress,
        MASTER_KEY,
      });
      const env = Object.entries({ ...ports, ROLES: roles }).map(([name, value]) => `${name}=${value}`);
      const check = () => bash(`env ${env.join(' ')} ${COMMAND}`, ROOT);
      const service = await startService(config);
      try {
        expect(await check()).toEqual({ code: 0, said: '', errors: '' });
        const metrics = `http://127.0.0.1:${ports.METRICS_PORT}`;
        expect((await fetch(`${metrics}/health/ready`)).status).toBe(200);
        expect((await fetch(`${metrics}/metrics`)).status).toBe(200);
      } finally {
        await service.close();
      }
      const gone = await check();
      expect([gone.code, gone.errors.trim().split('\n').length]).toEqual([
        1,
        1 + [...roles.matchAll(/api|admin/g)].length + 2 * [...roles.matchAll(/widget/g)].length,
      ]);
    },
    60_000,
  );
});

const MASTER_KEY = randomBytes(32).toString('hex');
