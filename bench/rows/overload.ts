import { setTimeout as sleep } from 'node:timers/promises';
import { compare } from '../harness/compare.js';
import { timed, type Sample } from '../harness/measure.js';
import { row, expectEqual } from '../harness/row.js';
import { count } from '../support/count.js';
import { createUsers } from '../support/payees.js';
import { millis, openLoop, quantile, type Timed } from '../support/open-loop.js';
import { startService } from '../support/service.js';
import { capacityOf, reportsTo } from '../support/reports.js';

/** Shares of a closed loop's rate. */
const RATES = [0.5, 0.8, 0.95, 3, 0.5] as const;
const CONNECTIONS = 1500;
const SECONDS = 8;
/** The bound within which the service recovers, after the last response of an overload. */
const RECOVERY_SECONDS = 5;

/** Reports at fixed rates: latency up to the capacity, and recovery after an overload. */
export const overloadRow = row(
  'overload',
  'POST /merchants/v1/payouts/report at fixed rates, up to three times the capacity',
  async (context) => {
    const { options, environment, progress } = context;
    const service = await startService(environment, { name: 'overload' });
    const users = await createUsers(service, options.users);
    const samples = new Map<string, Sample[]>();
    const notes: string[] = [];
    const add = (name: string, sample: Sample): void =>
      void samples.set(name, [...(samples.get(name) ?? []), sample]);
    let reported = (await capacityOf(context, service, users)).units;
    for (let round = 1; round <= options.rounds; round += 1) {
      progress(`round ${round} of ${options.rounds}: closed loop`);
      const capacity = await capacityOf(context, service, users);
      add('capacity', capacity);
      reported += capacity.units;
      let isAfter = false;
      for (const share of RATES) {
        const rate = (share * capacity.units) / capacity.seconds;
        progress(`round ${round} of ${options.rounds}: ${share} of capacity`);
        const requests = reportsTo(service.merchant, users, Math.round(rate * SECONDS));
        let responses: readonly Timed[] = [];
        const seconds = await timed(async () => {
          responses = await openLoop(service.baseUrl, requests, { rate, connections: CONNECTIONS });
        });
        const accepted = responses.filter(({ status }) => status === 201);
        const refused = responses.filter(({ status }) => status === 429 || status === 503);
        expectEqual('responses of other statuses', responses.length - accepted.length - refused.length, 0);
        reported += accepted.length;
        const name = `${isAfter ? 'after, ' : ''}${share}`;
        notes.push(`round ${round}, ${name}: ${millis('201', accepted)}; ${millis('refused', refused)}`);
        if (share > 1) {
          add('accepted', { units: accepted.length, seconds });
          isAfter = true;
          await sleep(RECOVERY_SECONDS * 1000);
        } else {
          expectEqual(`${name}: refused`, refused.length, 0);
          add(name, { units: 1, seconds: quantile(accepted, 0.99) });
        }
      }
    }
    const pool = await environment.pool('overload');
    const events = await count(pool, `event_store.events where type = 'payout.reported.v1'`);
    expectEqual('events', events, reported);
    return {
      comparisons: [
        compare(samples, {
          label: 'accepted per second at 3 times the capacity',
          subject: 'accepted',
          reference: 'capacity',
          goal: { atLeast: 0.9 },
        }),
        compare(samples, { label: 'p99 at 0.8 compared with 0.5', subject: '0.8', reference: '0.5' }),
        compare(samples, { label: 'p99 at 0.95 compared with 0.5', subject: '0.95', reference: '0.5' }),
        compare(samples, {
          label: 'p99 at 0.5 five seconds after the overload',
          subject: 'after, 0.5',
          reference: '0.5',
          goal: { atMost: 1.5 },
        }),
      ],
      notes,
    };
  },
);
