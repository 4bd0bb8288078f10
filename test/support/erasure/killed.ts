import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestApp } from '../app.js';
import { eventually, WAIT_MS } from '../eventually.js';
import { Disburse } from '../programs/disburse.js';
import { specFolder } from '../run-folder.js';
import { FREE_PORTS } from '../free-ports.js';

export const [MAIN, CLI] = ['dist/main.js', 'dist/cli.js'] as const;

/** Runs a process of the build, a worker for MAIN. Returns its exit code, or the signal that ended it. */
export function runBuilt(app: TestApp, program: string, env: NodeJS.ProcessEnv, ...args: string[]) {
  const { databaseUrl, masterKey } = app.config;
  const dataDir = env['DATA_DIR'] ?? specFolder('killed');
  const child = spawn(process.execPath, [`${program}`, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      MODE: 'sandbox',
      ROLES: 'worker',
      LOG_LEVEL: 'silent',
      DATABASE_URL: databaseUrl!,
      MASTER_KEY: masterKey!,
      DATA_DIR: dataDir,
      CHAIN_RPC_URL: app.chain.rpcUrl,
      USDC_ADDRESS: app.chain.usdcAddress,
      ...FREE_PORTS,
      READ_YOUR_WRITES_MS: '1',
      OPERATIONS_APPROVALS: 'off',
      ...env,
    },
  });
  return { child, ended: once(child, 'exit').then(([code, signal]: unknown[]) => signal ?? code) };
}

/** Starts a process of the admin API. Resolves once its socket exists. */
export async function runAdmin(app: TestApp, env: NodeJS.ProcessEnv) {
  const dataDir = specFolder('admin');
  const base = { ROLES: 'admin', READ_YOUR_WRITES_MS: '15000' };
  const started = runBuilt(app, MAIN, { ...base, ...env, DATA_DIR: dataDir });
  await eventually(async () => existsSync(join(dataDir, 'admin.sock')), 2 * WAIT_MS);
  return { ...started, shell: new Disburse({ DATA_DIR: dataDir }) };
}
