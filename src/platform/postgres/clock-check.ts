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

  /** Returns the minimum skew in seconds: positive if this clock is ahead, 0 within the query's duration. */
  async skewSeconds(): Promise<number> {
    const before = this.clock.now().getTime();
    const database = (await databaseNow(this.database)).getTime();
    const responded = this.clock.now().getTime();
    const skewMs = database < before ? before - database : Math.min(0, responded - database);
    clockSkew.set(skewMs / 1000);
    return skewMs / 1000;
  }

  /** Describes a skew of more than MAX_CLOCK_SKEW_SECONDS; null within this limit. */
  async findFault(): Promise<string | null> {
    const skew = await this.skewSeconds();
    if (Math.abs(skew) <= this.config.maxClockSkewSeconds) return null;
    return `the clock is ${Math.abs(Math.round(skew))} s ${skew > 0 ? 'ahead of' : 'behind'} the database's`;
  }

  /** Throws `unavailable` if the clock is wrong. Another process may then make the decision. */
  async require(): Promise<void> {
    const fault = await this.findFault();
    if (fault !== null) throw new DomainError('unavailable', `This process makes no decisions now: ${fault}`);
  }
}

/** The time of the database, to the millisecond. */
export async function databaseNow(database: Pick<Database, 'query'>): Promise<Date> {
  const [row] = await database.query<{ now: Date }>('select clock_timestamp() as now');
  return row!.now;
}

/** Returns the earlier of this process's time and the database's, so that retention deletes nothing early. */
export async function earlierNow(database: Pick<Database, 'query'>, clock: Clock): Promise<Date> {
  return new Date(Math.min((await databaseNow(database)).getTime(), clock.now().getTime()));
}
