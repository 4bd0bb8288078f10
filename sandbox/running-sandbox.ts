import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../src/composition.js';
import { Unreachable } from '../src/platform/postgres/unavailable.js';
import type { SandboxFile } from './announce.js';
import { readJson } from './files.js';
import type { SandboxSecrets } from './secrets.js';

/**
 * Returns the configuration of the sandbox that runs in DATA_DIR, or `given` if DATABASE_URL is set. Throws
 * Unreachable if no sandbox runs.
 */
export function withRunningSandbox(given: Config): Config {
  const { mode, dataDir, databaseUrl, masterKey, chainRpcUrl, usdcAddress } = given;
  if (mode !== 'sandbox' || databaseUrl !== null) return given;
  const folder = resolve(dataDir);
  const secrets = readJson<SandboxSecrets>(join(folder, 'secrets.json'));
  if (secrets === null || secrets.postgres_port === null || !existsSync(join(folder, 'service.pid'))) {
    throw new Unreachable(
      `No sandbox is running in ${folder}: start one with npm start, or set DATABASE_URL and MASTER_KEY.`,
    );
  }
  const running = readJson<SandboxFile>(join(folder, 'sandbox.json'));
  const chain = running?.chain;
  return {
    ...given,
    adminUrl: given.adminUrl ?? running?.console_url ?? null,
    chainRpcUrl: chainRpcUrl ?? chain?.rpc_url ?? null,
    usdcAddress: usdcAddress ?? chain?.usdc_address ?? null,
    databaseUrl: `postgres://disburse:${secrets.postgres_password}@127.0.0.1:${secrets.postgres_port}/disburse`,
    masterKey: masterKey ?? secrets.master_key,
  };
}
