import { rmSync } from 'node:fs';
import { timed } from '../../../../bench/harness/measure.js';
import { LEDGER, ledger } from '../../../../bench/seed/ledger.js';
import { BenchEnvironment } from '../../../../bench/support/environment.js';
import { startService } from '../../../../bench/support/service.js';
import type { SuiteOptions } from '../suite.js';
import type { BackupStore } from './backup-store.js';

const USER_PAYOUTS = 1000;
const MAX_RECOVERY_SECONDS = 60;

/** Restores a service with that many payouts, without load, and measures the time until it is ready. */
export async function restoreLarge(
  payouts: number,
  store: BackupStore,
  { verdict, say }: SuiteOptions,
): Promise<void> {
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
    const { rows } = await (
      await environment.pool(LEDGER)
    ).query<{ events: number }>('select count(*)::int as events from event_store.events');
    verdict.expect(rows[0]!.events >= events, 'every event is there again', rows[0]);
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
