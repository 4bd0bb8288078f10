import { ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { killSpawned, removeRun } from './test-run.mjs';

/** Of the suite that this process runs. */
let spawned = [];

const { spawn } = ChildProcess.prototype;
ChildProcess.prototype.spawn = function (...args) {
  const result = spawn.apply(this, args);
  if (this.pid !== undefined) spawned.push(this);
  return result;
};

/**
 * What a suite has spawned ends with it, also when it fails before its own clean-up: its child processes with all of
 * theirs, and servers in sessions of their own, which are known by working in a folder of the suite.
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
