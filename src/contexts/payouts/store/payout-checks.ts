import { Inject, Injectable, Logger } from '@nestjs/common';
import { CLOCK, type Clock, DAY_MS, HOUR_MS } from '../../../kernel/clock.js';
import { Background, BackgroundWork } from '../../../platform/background/background-work.js';
import { columnArrays, deleteBefore } from '../../../platform/postgres/batches.js';
import { earlierNow } from '../../../platform/postgres/clock-check.js';
import { Database } from '../../../platform/postgres/database.js';
import type { PayoutCheck } from '../domain/verdict.js';

/** Checks of one payout that are kept: the newest ones. */
export const MAX_CHECKS = 50;
export const CHECKS_KEPT_DAYS = 7;

/** Deletes with each new check the one that is beyond the newest {@link MAX_CHECKS}. */
const RECORD = `
  with checked as (
    select * from unnest($2::uuid[], $3::integer[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
      as given (payout_id, number, finding, node, head, confirmations)
  ), dropped as (
    delete from payouts.checks old using checked
    where old.payout_id = checked.payout_id and old.number <= checked.number - ${MAX_CHECKS}
      and checked.number > ${MAX_CHECKS}
  )
  insert into payouts.checks (payout_id, number, at, finding, node, head, confirmations)
  select payout_id, number, $1, finding, node, head, confirmations from checked
  on conflict (payout_id, number) do update set at = excluded.at, finding = excluded.finding, node = excluded.node,
    head = excluded.head, confirmations = excluded.confirmations`;

/** What the checks of payouts found, for people: no outcome rests on it. */
@Injectable()
export class PayoutChecks {
  private readonly logger = new Logger(PayoutChecks.name);
  @Background()
  readonly retention = new BackgroundWork({
    name: 'retention of checks of payouts',
    everyMs: HOUR_MS,
    run: (signal) => this.prune(signal),
  });

  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** One statement, however many checks. A failure is logged: payouts do not wait for their history. */
  async record(checks: readonly PayoutCheck[], at: Date): Promise<void> {
    if (checks.length === 0) return;
    const columns = columnArrays(checks, 'payoutId', 'number', 'finding', 'node', 'head', 'confirmations');
    await this.database
      .query(RECORD, [at, ...columns])
      .catch((error: unknown) => this.logger.warn({ msg: 'checks of payouts not recorded', err: error }));
  }

  async prune(signal?: AbortSignal): Promise<void> {
    const now = await earlierNow(this.database, this.clock);
    const before = new Date(now.getTime() - CHECKS_KEPT_DAYS * DAY_MS);
    await deleteBefore(this.database.pool, 'payouts.checks', 'at < $1', before, signal);
  }
}
