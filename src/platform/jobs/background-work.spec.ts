import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable, Logger } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { BackgroundModule } from './background.module.js';
import {
  Background,
  BackgroundWork,
  Periodic,
  type BackgroundOptions,
  type ProcessRole,
} from './background-work.js';
import { processConfig } from '../config/config.js';

const HOUR_MS = 3_600_000;

/** Runs that the test ends. */
function held(options: Partial<BackgroundOptions> = {}) {
  const runs: { end(): void; fail(): void; signal: AbortSignal }[] = [];
  const work = new BackgroundWork({
    name: 'tests',
    everyMs: HOUR_MS,
    run: (signal) =>
      new Promise((end, fail) => {
        runs.push({ signal, end: () => end(undefined), fail: () => fail(new Error('unavailable')) });
      }),
    ...options,
  });
  return { work, runs };
}

const shortDelay = (ms = 20): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('background work', () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  afterEach(() => void warn.mockClear());

  it('runs at the start and again after wakes during a run, but never twice at a time', async () => {
    const { work, runs } = held();
    work.start();
    work.start();
    expect(runs).toHaveLength(1);
    for (let wake = 0; wake < 3; wake += 1) work.wake();
    await shortDelay();
    expect(runs).toHaveLength(1);
    runs[0]!.end();
    await shortDelay();
    expect(runs).toHaveLength(2);
    runs[1]!.end();
    await shortDelay();
    expect(runs).toHaveLength(2);
    work.wake();
    await shortDelay();
    expect(runs).toHaveLength(3);
    runs[2]!.end();
    await work.stop();
  });

  it('skips the ticks of its interval during a run', async () => {
    const { work, runs } = held({ everyMs: 5 });
    work.start();
    await shortDelay();
    runs[0]!.end();
    await Promise.resolve();
    expect(runs).toHaveLength(1);
    await shortDelay();
    expect(runs).toHaveLength(2);
    runs[1]!.end();
    await work.stop();
  });

  it('is retried until it succeeds, after growing delays that a wake does not shorten', async () => {
    let runs = 0;
    const work = new BackgroundWork({
      name: 'tests',
      everyMs: 1,
      backoff: { firstMs: 40, maxMs: 80 },
      run: () => (++runs === 3 || runs > 4 ? Promise.resolve() : Promise.reject(new Error('unavailable'))),
    });
    const began = performance.now();
    work.start();
    while (runs < 2) {
      work.wake();
      await shortDelay(1);
    }
    // A timer counts whole milliseconds: it may be one early.
    expect(performance.now() - began).toBeGreaterThan(19);
    while (runs < 5) await shortDelay(1);
    await work.stop();
    const lines = warn.mock.calls.map(([line]) => line as { failures: number; delayMs: number });
    expect(lines.map(({ failures }) => failures)).toEqual([1, 2, 1]);
    expect(lines[0]).toMatchObject({ msg: 'background work failed', work: 'tests' });
    expect(lines[1]!.delayMs).toBeGreaterThanOrEqual(40);
  });

  it('aborts the current run when stopped, waits for the end of that run and starts no other', async () => {
    const { work, runs } = held();
    work.start();
    work.wake();
    let stopped = false;
    const stop = work.stop().then(() => (stopped = true));
    expect(runs[0]!.signal.aborted).toBe(true);
    await shortDelay();
    expect(stopped).toBe(false);
    runs[0]!.end();
    await stop;
    work.wake();
    await shortDelay();
    expect(runs).toHaveLength(1);
  });

  it('can be stopped during the delay after a failure', async () => {
    const { work, runs } = held({ backoff: { firstMs: HOUR_MS, maxMs: HOUR_MS } });
    work.start();
    runs[0]!.fail();
    await shortDelay();
    await work.stop();
    expect(runs).toHaveLength(1);
  });
});

const ran: string[] = [];
const noting = (name: string, role?: ProcessRole | 'any'): BackgroundWork =>
  new BackgroundWork({
    name,
    everyMs: HOUR_MS,
    run: () => Promise.resolve(ran.push(name)),
    ...(role === undefined ? {} : { role }),
  });

@Injectable()
class Several {
  @Background()
  readonly first = noting('worker');
  @Background()
  readonly others = [noting('api', 'api'), noting('any', 'any')];

  @Periodic({ name: 'periodic', everyMs: HOUR_MS })
  async note(): Promise<void> {
    ran.push('periodic');
  }
}

class Holder {
  @Background()
  readonly held: object;

  constructor(work: object) {
    this.held = work;
  }
}

describe('the background work of a process', () => {
  const boot = async (
    roles: readonly ProcessRole[],
    providers: object[] = [Several],
    shutdownGraceMs = 1000,
  ) => {
    ran.length = 0;
    const config = { provide: processConfig.KEY, useValue: { roles, shutdownGraceMs } };
    const module = await Test.createTestingModule({
      imports: [{ module: BackgroundModule, providers: [config] }],
      providers: [config, ...(providers as [])],
    }).compile();
    return module.init();
  };

  it('consists of the work of its roles, and is empty in a program without roles', async () => {
    for (const [roles, expected] of [
      [['worker'], ['worker', 'any', 'periodic']],
      [['api'], ['api', 'any']],
      [[], []],
    ] as const) {
      const app = await boot(roles);
      expect(ran).toEqual(expected);
      expect(app.get(SchedulerRegistry).getIntervals()).toEqual(expected);
      await app.close();
    }
  });

  it('delays the shutdown by at most the grace period, and the log names unfinished work', async () => {
    const { work } = held({ name: 'endless' });
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const app = await boot(['worker'], [{ provide: 'endless', useValue: new Holder(work) }], 20);
    await app.close();
    expect(warn).toHaveBeenCalledWith({ msg: 'background work did not stop', work: 'endless' });
  });

  it('is not stopped by the shutdown if its provider stops it', async () => {
    const { work, runs } = held({ stopsWithProvider: true });
    const app = await boot(['worker'], [{ provide: 'its own', useValue: new Holder(work) }]);
    await app.close();
    expect(runs[0]!.signal.aborted).toBe(false);
    runs[0]!.end();
    await work.stop();
  });
});
