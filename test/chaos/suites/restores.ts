import { rmSync } from 'node:fs';
import { Shared } from '../support/shared.js';
import { BackupStore } from '../support/restores/backup-store.js';
import { Drill, DRILLS, type DrillResult } from '../support/restores/drill.js';
import { percentile, seconds, type Suite, type SuiteOptions } from '../support/suite.js';
import { timed } from '../../../bench/harness/measure.js';
import { LEDGER, ledger } from '../../../bench/seed/ledger.js';
import { count as countRows } from '../../../bench/support/count.js';
import { BenchEnvironment } from '../../../bench/support/environment.js';
import { startService } from '../../../bench/support/service.js';

const USER_PAYOUTS = 1000;
const MAX_RECOVERY_SECONDS = 60;

/** Restores a service with `payouts` payouts, without load, and measures the time until it is ready. */
async function restoreLarge(payouts: number, store: BackupStore, { verdict, say }: SuiteOptions) {
  const environment = await BenchEnvironment.start(store.settings);
  try {
    const options = { payouts, 'user-payouts': USER_PAYOUTS };
    const { events } = await ledger({ environment, options, progress: say });
    const backup = await timed(async () => {
      await store.takeBase(await environment.database(LEDGER), environment.postgresData);
    });
    await environment.killPostgres();
    rmSync(environment.postgresData, { recursive: true });
    const dir = environment.folder('restored');
    const database = await timed(async () => {
      await environment.replacePostgres(dir, await store.restoreTo(dir, 'end of the archive'));
    });
    const service = await timed(() => startService(environment, { name: LEDGER }));
    const restored = await countRows(await environment.pool(LEDGER), 'event_store.events');
    verdict.expect(restored >= events, 'every event is there again', restored);
    verdict.expect(database + service < MAX_RECOVERY_SECONDS, 'the service is ready within a minute', {
      database,
      service,
    });
    say(
      `${events} events: base backup ${backup.toFixed(1)} s; database restored after ${database.toFixed(1)} s, service ready ${service.toFixed(1)} s later`,
    );
  } finally {
    await environment.close();
  }
}

/** Backup under load, destruction and restore (docs/backup.md). `--payouts N` adds a restore of N payouts. */
export const restores: Suite = async (options) => {
  const { count, say, sizes = {} } = options;
  const results: DrillResult[] = [];
  for (let n = 1; n <= count; n += 1) {
    const store = BackupStore.create();
    const drill = async (shared: Shared): Promise<void> => {
      const result = await new Drill(DRILLS[(n - 1) % DRILLS.length]!, shared, store, options).run();
      results.push(result);
      say(`${String(n).padStart(3)}  ${result.line}`);
    };
    await Shared.run(drill, Shared.start(store.settings)).finally(() => store.remove());
  }
  const recovery = results.map(({ recoveryMs }) => recoveryMs);
  const lost = results.filter(({ kind }) => kind === 'archive').map(({ lostMs }) => lostMs);
  say(`lost by the archive alone: the last ${seconds(Math.max(0, ...lost))} at most`);
  say(
    `ready after ${seconds(percentile(recovery, 0.5))} in the median, ${seconds(Math.max(...recovery))} at most`,
  );
  if (sizes.payouts === undefined) return;
  const store = BackupStore.create();
  await restoreLarge(sizes.payouts, store, options).finally(() => store.remove());
};
