import { ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { killSpawned, removeRun } from './test-run.mjs';

let spawned = [];

const { spawn } = ChildProcess.prototype;
ChildProcess.prototype.spawn = function (...args) {
  const result = spawn.apply(this, args);
  if (this.pid !== undefined) spawned.push(this);
  return result;
};

/**
 * Ends everything that a suite has spawned, also after a failure: its child processes with their descendants, and
 * servers in sessions of their own, which work in a folder of the suite.
 */
export class SuiteFolder {
  create(env) {
    spawned = [];
    this.path = mkdtempSync(join(process.env.DISBURSE_TEST_RUN, 'suite-'));
    // PostgreSQL may run as another user here, who has to pass through.
    chmodSync(this.path, 0o711);
    env.DISBURSE_TEST_SUITE = this.path;
  }

  async remove() {
    await killSpawned(spawned, process.env.DISBURSE_TEST_RUN, this.path);
    await removeRun(this.path);
  }
}
