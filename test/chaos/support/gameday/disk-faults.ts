import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { copyFolder } from '../restores/copy-folder.js';
import type { Shared } from '../shared.js';
import type { Faults } from './fault.js';
import { Stage } from './stage.js';

const DISK_MIB = 400;
const LOAD_MS = 200;
/** Of reports that succeed, before. */
const HEALTHY_MS = 60_000;
/** The longer of the windows of the alert that have to pass. */
const WINDOW_MS = 32 * 60_000;

/** The disk of PostgreSQL, in memory. */
const disk = join(tmpdir(), `disburse-disk-${process.pid}`);
const ballast = join(disk, 'ballast');

/** Results in what takes the disk off again. */
async function onSmallDisk(shared: Shared): Promise<() => void> {
  const { environment } = shared;
  const data = environment.postgresData;
  await environment.killPostgres();
  mkdirSync(disk, { mode: 0o711 });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=0711`, 'tmpfs', disk]);
  const folder = join(disk, 'postgres');
  await copyFolder(dirname(data), folder);
  await shared.replacePostgres(folder, {});
  return () => {
    execFileSync('umount', [disk]);
    rmdirSync(disk);
  };
}

/** Writes zeros until the disk takes no more. */
function fillUp(file: string): void {
  const zeros = Buffer.alloc(1024 * 1024);
  try {
    for (;;) appendFileSync(file, zeros);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** Reports payouts all the while, also while they fail. */
class Load {
  private ended = false;
  private running: Promise<void> = Promise.resolve();

  start(stage: Stage): void {
    this.running = (async () => {
      for (; !this.ended; await sleep(LOAD_MS)) await stage.report(1, { paid: false }).catch(() => undefined);
    })();
  }

  async stop(): Promise<void> {
    this.ended = true;
    await this.running;
  }
}
const load = new Load();

/** Of the disk of PostgreSQL. Root alone may mount it. */
export const diskFaults: Faults = {
  start: () => Stage.start({ prepare: onSmallDisk }),
  end: () => load.stop(),
  faults: [
    {
      name: 'the disk of PostgreSQL is full',
      alerts: ['ErrorBudgetBurnsFast'],
      begin: async (stage) => {
        load.start(stage);
        await sleep(HEALTHY_MS);
        fillUp(ballast);
      },
      resolvedMs: WINDOW_MS,
      end: async () => rmSync(ballast),
    },
  ],
};
