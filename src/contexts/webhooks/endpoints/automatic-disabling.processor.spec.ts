import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { insertEndpoint } from '../../../../test/support/webhooks/webhook-rows.js';
import { systemClock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import { webhooksConfig } from '../webhooks.config.js';
import { JITTER } from '../deliveries/retry.js';
import type { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { Log } from '../../../platform/telemetry/logger.js';
import { endpointsDisabled } from '../webhooks.metrics.js';
import { AutomaticDisablingProcessor } from './automatic-disabling.processor.js';

const MINUTE = 60_000;
const START = Date.parse('2026-01-01T00:00:00.000Z');

const db = onTestDatabase({ poolSize: 2 });

/** One endpoint, whose attempts, enabling and evaluation the test controls. */
class Harness {
  readonly endpointId = newId();
  now = START;
  private readonly disabling: AutomaticDisablingProcessor;

  constructor(config = webhooksConfig({})) {
    const clock = { now: () => new Date(this.now) };
    this.disabling = new AutomaticDisablingProcessor(
      db.database,
      {} as CommandLoop,
      clock,
      {} as Log,
      config,
    );
  }

  async begin(): Promise<void> {
    await db.database.query('truncate webhooks.endpoint_snapshots');
    await insertEndpoint(db.database, { id: this.endpointId });
  }

  /** Inserts attempts that began at these times (Unix milliseconds). */
  async attempts(outcome: string, ...startedAt: number[]): Promise<void> {
    await db.database.query(
      `insert into webhooks.attempts (delivery_id, attempt, endpoint_id, started_at, duration_ms, outcome)
       select gen_random_uuid(), 1, $1, started_at, 1, $2 from unnest($3::timestamptz[]) as started_at`,
      [this.endpointId, outcome, startedAt.map((each) => new Date(each))],
    );
  }

  async enable(): Promise<void> {
    await db.database.query(
      `update webhooks.endpoint_snapshots set status = 'enabled', failures_since = $2 where endpoint_id = $1`,
      [this.endpointId, new Date(this.now)],
    );
  }

  async disable(): Promise<void> {
    await db.database.query(
      `update webhooks.endpoint_snapshots set status = 'disabled' where endpoint_id = $1`,
      [this.endpointId],
    );
  }

  /** Returns the time since which it has been failing (Unix milliseconds); null when it is not disabled now. */
  async evaluate(): Promise<number | null> {
    const disable = jest.spyOn(this.disabling, 'disable').mockReset().mockResolvedValue();
    await this.disabling.evaluateAll();
    const [call] = disable.mock.calls;
    if (!call) return null;
    const [endpoint, reason] = call;
    expect(endpoint).toEqual({ endpoint_id: this.endpointId, merchant_id: this.endpointId });
    return reason.cause === 'failing' ? Date.parse(reason.failing_since) : null;
  }

  async failures(): Promise<number | undefined> {
    return (await this.disabling.counts([this.endpointId])).get(this.endpointId);
  }
}

type Step = { readonly wait: number; readonly kind: 'retry' | 'exhausted' | 'gone' | 'succeeded' | 'enable' };

/** Few steps of whole minutes, so that each boundary occurs often. */
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    wait: fc.integer({ min: 0, max: 4 }),
    kind: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('retry', 'exhausted', 'gone') },
      { weight: 2, arbitrary: fc.constant('succeeded') },
      { weight: 1, arbitrary: fc.constant('enable') },
    ) as fc.Arbitrary<Step['kind']>,
  }),
  { minLength: 8, maxLength: 30 },
);

describe('automatic disabling', () => {
  it('follows its rule (failures, window, span) for any order of attempts and enablings', async () => {
    const [failures, window, span] = [4, 20, 5];
    const config = webhooksConfig({
      WEBHOOK_DISABLE_FAILURES: String(failures),
      WEBHOOK_DISABLE_WINDOW_SECONDS: String(window * 60),
      WEBHOOK_DISABLE_SPAN_SECONDS: String(span * 60),
    });
    let disablings = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const harness = new Harness(config);
        await harness.begin();
        const failed: number[] = [];
        let since = -Infinity;
        let enabled = true;
        for (const { wait, kind } of history) {
          harness.now += wait * MINUTE;
          if (kind === 'enable') {
            await harness.enable();
            [enabled, since] = [true, harness.now];
          } else await harness.attempts(kind, harness.now);
          if (kind !== 'enable' && kind !== 'succeeded') failed.push(harness.now);
          // The rule, word by word.
          const counting = failed.filter((each) => each > since && each >= harness.now - window * MINUTE);
          const sustained =
            enabled &&
            counting.length >= failures &&
            Math.max(...counting) - Math.min(...counting) >= span * MINUTE;
          expect(await harness.failures()).toBe(counting.length);
          expect(await harness.evaluate()).toBe(sustained ? Math.min(...counting) : null);
          if (!sustained) continue;
          await harness.disable();
          enabled = false;
          disablings += 1;
        }
      }),
      { numRuns: 40 },
    );
    expect(disablings).toBeGreaterThan(10);
  });

  /** Returns the times of the attempts of a failing delivery on the default schedule. */
  const dead = (random: () => number): number[] => {
    let at = START;
    const delays = webhooksConfig({}).webhookRetryScheduleSeconds;
    return [at, ...delays.map((each) => (at += each * 1000 * (1 - JITTER + 2 * JITTER * random())))];
  };

  it('is not caused by eight webhooks that are undeliverable at the same time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), async (stream) => {
        const random = (): number => stream.next().value ?? 0;
        const harness = new Harness();
        await harness.begin();
        const times = Array.from({ length: 8 }, () => dead(random)).flat();
        for (const each of times.toSorted((a, b) => a - b)) {
          harness.now = each;
          await harness.attempts('retry', each);
          expect(await harness.evaluate()).toBeNull();
        }
      }),
      { numRuns: 3 },
    );
  });

  it('waits until failures span 30 minutes, even after a burst of 500 failures', async () => {
    const harness = new Harness();
    await harness.begin();
    await harness.attempts('retry', ...Array.from({ length: 500 }, (_, index) => START + index * 1000));
    harness.now = START + 30 * MINUTE - 1;
    await harness.attempts('retry', harness.now);
    expect(await harness.evaluate()).toBeNull();
    harness.now += 1;
    await harness.attempts('retry', harness.now);
    expect(await harness.evaluate()).toBe(START);
  });

  it('is counted and logged as a warning only if an event records it', async () => {
    const endpoint = { endpoint_id: newId(), merchant_id: newId() };
    const reason = { cause: 'failing', failing_since: new Date(START).toISOString() } as const;
    const wideLog = jest.fn();
    const disable = async (events: readonly object[]): Promise<number> => {
      const loop = { execute: async () => ({ events }) } as unknown as CommandLoop;
      const log = { wideLog } as unknown as Log;
      endpointsDisabled.reset();
      const disabling = new AutomaticDisablingProcessor(
        db.database,
        loop,
        systemClock,
        log,
        webhooksConfig({}),
      );
      await disabling.disable(endpoint, reason);
      return (
        (await endpointsDisabled.get()).values.find(({ labels }) => labels.cause === 'failing')?.value ?? 0
      );
    };
    expect([await disable([]), await disable([{}])]).toEqual([0, 1]);
    expect(wideLog.mock.calls).toEqual([['webhook endpoint disabled', { ...endpoint, ...reason }, 'warn']]);
  });

  it('counts at most a thousand failures, all within its window', async () => {
    const harness = new Harness();
    await harness.begin();
    await harness.attempts('retry', ...Array.from({ length: 1200 }, (_, index) => START + index));
    expect(await harness.failures()).toBe(1000);
    harness.now += 6 * 60 * MINUTE + 1100;
    expect(await harness.failures()).toBe(100);
    harness.now += 100;
    expect(await harness.failures()).toBe(0);
  });
});
