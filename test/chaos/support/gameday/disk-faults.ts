import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Teardown } from '../../../../sandbox/teardown.js';
import { copyFolder } from '../restores/copy-folder.js';
import type { Shared } from '../shared.js';
import type { Faults } from './fault.js';
import { Stage } from './stage.js';

const DISK_MIB = 400;

/** The disk of PostgreSQL, in memory. */
const disk = join(tmpdir(), `disburse-disk-${process.pid}`);
const ballast = join(disk, 'ballast');

function mountDisk(ends: Teardown): void {
  mkdirSync(disk, { mode: 0o711 });
  ends.add(() => rmdirSync(disk));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=0711`, 'tmpfs', disk]);
  ends.add(() => void execFileSync('umount', [disk]));
}

async function onSmallDisk(shared: Shared): Promise<void> {
  const data = shared.environment.postgresData;
  await shared.environment.killPostgres();
  const folder = join(disk, 'postgres');
  await copyFolder(dirname(data), folder);
  await shared.replacePostgres(folder, {});
}

/** Writes zeros until the disk is full. */
function fillUp(file: string): void {
  const zeros = Buffer.alloc(1024 * 1024);
  try {
    for (;;) appendFileSync(file, zeros);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** Faults of PostgreSQL's disk. Only root may mount it. */
export const diskFaults = (): Faults => ({
  start: () => {
    const ends = new Teardown();
    mountDisk(ends);
    return Stage.start({ prepare: onSmallDisk, ends });
  },
  faults: [
    {
      // Its log is on the disk, so that the server ends.
      name: 'the disk of PostgreSQL is full',
      alerts: ['DatabaseUnavailable'],
      begin: async () => fillUp(ballast),
      end: async ({ shared }) => {
        rmSync(ballast);
        await shared.environment.restartPostgres();
      },
    },
  ],
});
