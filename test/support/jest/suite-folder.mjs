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
 * Ends everything that a suite has spawned, also after a failure. These are its child processes with their
 * descendants, and servers in separate sessions, which work in a folder of the suite.
 */
export class SuiteFolder {
  create(env) {
    spawned = [];
    this.path = mkdtempSync(join(process.env.DISBURSE_TEST_RUN, 'suite-'));
    // PostgreSQL may run as another user, who needs access to its folder below.
    chmodSync(this.path, 0o711);
    env.DISBURSE_TEST_SUITE = this.path;
  }

  async remove() {
    await killSpawned(spawned, process.env.DISBURSE_TEST_RUN, this.path);
    await removeRun(this.path);
  }
}
