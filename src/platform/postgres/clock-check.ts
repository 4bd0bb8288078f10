import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/domain-error.js';
import { storeConfig, type StoreConfig } from '../config/config.js';
import { clockSkew } from '../telemetry/metrics.js';
import { Database } from './database.js';

/** Compares this process's clock with the database's, which all processes share. */
@Injectable()
export class ClockCheck {
  constructor(
    @Inject(storeConfig.KEY) private readonly config: StoreConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly database: Database,
  ) {}

  /** Seconds that this clock is ahead, at least; 0 when the time the question took explains all of it. */
  async skewSeconds(): Promise<number> {
    const before = this.clock.now().getTime();
    const database = (await databaseNow(this.database)).getTime();
    const responded = this.clock.now().getTime();
    const skewMs = database < before ? before - database : Math.min(0, responded - database);
    clockSkew.set(skewMs / 1000);
    return skewMs / 1000;
  }

  /** Throws when the clock is off by more than MAX_CLOCK_SKEW_SECONDS. */
  async check(): Promise<void> {
    const skew = await this.skewSeconds();
    if (Math.abs(skew) > this.config.maxClockSkewSeconds) throw new ClockOff(skew);
  }

  /** Throws `unavailable` where a wrong clock must not decide: another process, or this one later, may do it. */
  async require(): Promise<void> {
    await this.holds(({ message }) => {
      throw new DomainError('unavailable', `Nothing is decided here now: ${message}`);
    });
  }

  /** Returns false and calls `off` with the reason where {@link check} fails. */
  async holds(off?: (why: ClockOff) => void): Promise<boolean> {
    try {
      await this.check();
      return true;
    } catch (error) {
      if (!(error instanceof ClockOff)) throw error;
      off?.(error);
      return false;
    }
  }
}

/** The time of the database, to the millisecond. */
export async function databaseNow(database: Pick<Database, 'query'>): Promise<Date> {
  const [row] = await database.query<{ now: Date }>('select clock_timestamp() as now');
  return row!.now;
}

/**
 * Returns the earlier time of this process and the database. Retention uses it, so that a clock ahead deletes nothing
 * early.
 */
export async function earlierNow(database: Pick<Database, 'query'>, clock: Clock): Promise<Date> {
  return new Date(Math.min((await databaseNow(database)).getTime(), clock.now().getTime()));
}

/** Nothing may be decided by this process's clock. */
class ClockOff extends Error {
  override readonly name = 'ClockOff';
  constructor(skew: number) {
    super(`the clock is ${Math.abs(Math.round(skew))} s ${skew > 0 ? 'ahead of' : 'behind'} the database's`);
  }
}
