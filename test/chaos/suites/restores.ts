import { Shared } from '../support/shared.js';
import { BackupStore } from '../support/restores/backup-store.js';
import { restoreLarge } from '../support/restores/large-restore.js';
import { Drill, DRILLS, type DrillResult } from '../support/restores/drill.js';
import { percentile, seconds, type Suite, type SuiteOptions } from '../support/suite.js';

/**
 * Backup under load, destruction and restore, `count` times (docs/backup.md). `--payouts N` adds a restore of a
 * database with that many payouts.
 */
export const restores: Suite = async (options) => {
  const { count, say, sizes = {} } = options;
  const results: DrillResult[] = [];
  for (let n = 1; n <= count; n += 1) {
    const store = BackupStore.create();
    const shared = await Shared.start(store.settings);
    try {
      const result = await new Drill(DRILLS[(n - 1) % DRILLS.length]!, shared, store, options).run();
      results.push(result);
      say(`${String(n).padStart(3)}  ${result.line}`);
    } finally {
      await shared.close();
      store.remove();
    }
  }
  const recovery = results.map(({ recoveryMs }) => recoveryMs);
  const lost = results.filter(({ kind }) => kind === 'archive').map(({ lostMs }) => lostMs);
  say(`lost by the archive alone: the last ${seconds(Math.max(0, ...lost))} at most`);
  say(
    `ready after ${seconds(percentile(recovery, 0.5))} in the median, ${seconds(Math.max(...recovery))} at most`,
  );
  if (sizes.payouts !== undefined) await large(sizes.payouts, options);
};

async function large(payouts: number, options: SuiteOptions): Promise<void> {
  const store = BackupStore.create();
  try {
    await restoreLarge(payouts, store, options);
  } finally {
    store.remove();
  }
}
