import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../sandbox/processes.js';
import { WAIT_MS } from './eventually.js';

/** The folder of this Jest run. At the end of the run its processes are killed and it is deleted. */
export function runFolder(): string {
  const folder = process.env['DISBURSE_TEST_RUN'];
  if (folder === undefined)
    throw new Error('only inside a Jest run: test/support/jest/global-setup.mjs makes the folder');
  return folder;
}

/**
 * Creates a folder of the suite, which is deleted with it and its processes. Other users may pass through,
 * because PostgreSQL may run as another user.
 */
export const specFolder = (name: string): string =>
  newFolder(process.env['DISBURSE_TEST_SUITE'] ?? runFolder(), name);

/** Creates a folder of the run, for resources that the suites of a worker share. */
export const sharedFolder = (name: string): string => newFolder(runFolder(), name);

function newFolder(parent: string, name: string): string {
  const folder = mkdtempSync(join(parent, `${name}-`));
  chmodSync(folder, 0o711);
  return folder;
}

/** Runs `make` once per Jest run, in the first worker. The others wait and read its result. */
export async function oncePerRun<T>(name: string, make: () => Promise<T>): Promise<T> {
  const done = join(runFolder(), `${name}.json`);
  const failed = join(runFolder(), `${name}.failed`);
  if (!existsSync(done) && takeLock(join(runFolder(), `${name}.lock`))) {
    try {
      writeFileSync(`${done}.new`, JSON.stringify(await make()));
      renameSync(`${done}.new`, done);
    } catch (error) {
      writeFileSync(failed, (error as Error).stack ?? String(error));
      throw error;
    }
  }
  await until(() => existsSync(done) || existsSync(failed), WAIT_MS);
  if (existsSync(failed)) throw new Error(`${name} could not be created: ${readFileSync(failed, 'utf8')}`);
  return JSON.parse(readFileSync(done, 'utf8')) as T;
}

function takeLock(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}
