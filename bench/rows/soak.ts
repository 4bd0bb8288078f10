import { compare, median } from '../harness/compare.js';
import type { Sample } from '../harness/measure.js';
import { row, expectEqual } from '../harness/row.js';
import { count } from '../support/count.js';
import { residentMiB } from '../support/memory.js';
import { millis, openLoop, quantile, type Timed } from '../support/open-loop.js';
import { createUsers } from '../support/payees.js';
import { eventually } from '../support/wait.js';
import { capacityOf, reportsTo } from '../support/reports.js';
import { startService } from '../support/service.js';

/** The share of a closed loop's rate. Each report also expires, with an event, an outcome and checks. */
const SHARE = 0.25;
const CONNECTIONS = 256;
const MINUTE_SECONDS = 60;
/** Payouts expire after this time, so that as many are pending at the end as at the beginning. */
const WINDOW_SECONDS = 30;

/** The least number of comparable minutes. */
const MIN_MINUTES = 5;

interface Minute {
  readonly responses: readonly Timed[];
  readonly memoryMiB: number;
  readonly pending: number;
}

export const soakRow = row(
  'soak',
  'POST /merchants/v1/payouts/report at a fixed rate for hours, each payout with its expiry',
  async (context) => {
    const { options, environment, progress } = context;
    if (options.minutes < MIN_MINUTES) throw new Error(`--minutes must be ${MIN_MINUTES} at least`);
    const service = await startService(environment, {
      name: 'soak',
      env: { PAYOUT_VERIFICATION_WINDOW_SECONDS: String(WINDOW_SECONDS) },
    });
    const users = await createUsers(service, options.users);
    const pool = await environment.pool('soak');
    const pending = (): Promise<number> => count(pool, 'payouts.verifications');
    const warmUp = await capacityOf(context, service, users);
    const { units, seconds } = await capacityOf(context, service, users);
    const rate = Math.round((SHARE * units) / seconds);
    const minutes: Minute[] = [];
    while (minutes.length < options.minutes) {
      const requests = reportsTo(service.merchant, users, rate * MINUTE_SECONDS);
      const responses = await openLoop(service.baseUrl, requests, { rate, connections: CONNECTIONS });
      expectEqual('other responses than 201', responses.filter(({ status }) => status !== 201).length, 0);
      minutes.push({ responses, memoryMiB: residentMiB(service.pid), pending: await pending() });
      progress(`minute ${minutes.length} of ${options.minutes}: ${noteOf(minutes.at(-1)!)}`);
    }
    const reported = warmUp.units + units + rate * MINUTE_SECONDS * minutes.length;
    expectEqual(
      'reports',
      await count(pool, `event_store.events where type = 'payout.reported.v1'`),
      reported,
    );
    progress('waiting for the last expiry');
    await eventually('no payout is pending', async () => (await pending()) === 0, 10 * MINUTE_SECONDS * 1000);
    expectEqual(
      'expiries',
      await count(pool, `event_store.events where type = 'payout.expired.v1'`),
      reported,
    );
    const fifth = Math.max(1, Math.floor(minutes.length / 5));
    const [early, late] = [minutes.slice(fifth, 2 * fifth), minutes.slice(-fifth)];
    const comparison = (label: string, of: (minute: Minute) => number): ReturnType<typeof compare> => {
      const sample = (part: readonly Minute[]): Sample => ({ units: 1, seconds: median(part.map(of)) });
      const samples = new Map([
        ['late', [sample(late)]],
        ['early', [sample(early)]],
      ]);
      return compare(samples, { label, subject: 'late', reference: 'early', goal: { atMost: 1.05 } });
    };
    return {
      comparisons: [
        comparison('p50 of the last fifth compared with the second', (m) => quantile(m.responses, 0.5)),
        comparison('p99 of the last fifth compared with the second', (m) => quantile(m.responses, 0.99)),
        comparison('memory of the last fifth compared with the second', ({ memoryMiB }) => memoryMiB),
        comparison('pending payouts of the last fifth compared with the second', (m) => m.pending),
      ],
      notes: [
        `${options.minutes} minutes at ${SHARE} of the capacity`,
        ...minutes.map((minute, n) => `minute ${n + 1}: ${noteOf(minute)}`),
      ],
    };
  },
);

const noteOf = ({ responses, memoryMiB, pending }: Minute): string =>
  `${millis('201', responses)}; ${memoryMiB} MiB; ${pending} pending`;
