import { setTimeout as sleep } from 'node:timers/promises';
import type { Faults } from './fault.js';
import { Stage } from './stage.js';

const LOAD_MS = 200;
/** The duration of successful reports before the fault. */
const HEALTHY_MS = 60_000;
/** The longer of the alert's short windows, plus its groups of half a minute. */
const WINDOW_MS = 35 * 60_000;

/** Reports payouts continuously, also while they fail. */
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

/** Requests fail although no dependency is unavailable. */
export const budgetFaults = (): Faults => ({
  start: () => Stage.start(),
  faults: [
    {
      name: 'every report fails with 500',
      alerts: ['ErrorBudgetBurnsFast'],
      resolvedMs: WINDOW_MS,
      begin: async (stage) => {
        const load = new Load();
        load.start(stage);
        stage.ends.add(() => load.stop());
        await sleep(HEALTHY_MS);
        await stage.shared.pool.query(
          `create function public.refused() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
           create trigger refused before insert on event_store.events
           for each row when (new.type = 'payout.reported.v1') execute function public.refused()`,
        );
      },
      end: async ({ shared }) => void (await shared.pool.query('drop trigger refused on event_store.events')),
    },
  ],
});
