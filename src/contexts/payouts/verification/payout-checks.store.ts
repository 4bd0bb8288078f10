import { Inject, Injectable, Logger } from '@nestjs/common';
import { CLOCK, type Clock, DAY_MS, HOUR_MS } from '../../../kernel/clock.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { ApiProperty } from '../../../platform/dto/field.js';
import { COUNT, TIME } from '../../../platform/dto/rules.js';
import { columnArrays, deleteBefore } from '../../../platform/postgres/batches.js';
import { earlierNow } from '../../../platform/postgres/clock-check.js';
import { Database } from '../../../platform/postgres/database.js';
import { CHECK_FINDINGS, type CheckFinding } from './verification.js';
import { VERIFICATION } from './verification-queue.store.js';

const FINDING = { type: 'string', enum: CHECK_FINDINGS };

/** A check in the admin API (admin-api.md 3). */
export class PayoutCheck {
  @ApiProperty(TIME) at!: string;
  @ApiProperty(FINDING) finding!: CheckFinding;

  @ApiProperty({ type: 'string', nullable: true, description: 'Host of the node that was read.' })
  node!: string | null;

  @ApiProperty({ ...COUNT, nullable: true, description: 'The newest block of the node.' })
  head!: number | null;

  @ApiProperty({ ...COUNT, nullable: true, description: 'null while the transaction is in no block.' })
  confirmations!: number | null;
}

/** A check to record. The first check of a payout has number 1. */
export type NewCheck = Readonly<Omit<PayoutCheck, 'at'>> & {
  readonly payoutId: string;
  readonly number: number;
};

/** The last check of a payout. Checks are deleted CHECKS_KEPT_DAYS after they happened. */
export class LastCheck {
  @ApiProperty({ ...TIME, nullable: true }) last_at!: string | null;
  @ApiProperty({ anyOf: [FINDING, { type: 'null' }] }) last_finding!: CheckFinding | null;

  @ApiProperty({ ...TIME, nullable: true, description: 'null once the payout has its outcome.' })
  next_at!: string | null;

  @ApiProperty({ ...COUNT, nullable: true, description: 'Checks so far; null a week after the outcome.' })
  attempts!: number | null;
}

export const MAX_CHECKS = 50;
export const CHECKS_KEPT_DAYS = 7;

/** The finding of the `latest` check of a `pending` payout. A text that is not a hash needs no check. */
const LATEST_FINDING = `case when pending.hash !~ '^0x[0-9a-f]{64}$' then 'not_a_hash' else latest.finding end`;

const iso = (time: string): string => `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The SQL that inserts checks and deletes all but the newest {@link MAX_CHECKS} of each payout. */
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

/** The store of checks, which people read. No outcome depends on it. */
@Injectable()
export class PayoutChecks {
  private readonly logger = new Logger(PayoutChecks.name);

  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Records checks. A failure is only logged. */
  async record(checks: readonly NewCheck[], at: Date): Promise<void> {
    if (checks.length === 0) return;
    const columns = columnArrays(checks, 'payoutId', 'number', 'finding', 'node', 'head', 'confirmations');
    await this.database
      .query(RECORD, [at, ...columns])
      .catch((error: unknown) => this.logger.warn({ msg: 'checks of payouts not recorded', err: error }));
  }

  async latest(payoutIds: readonly string[]): Promise<ReadonlyMap<string, LastCheck>> {
    const rows = await this.database.query<LastCheck & { id: string } & Record<string, unknown>>(
      `select listed.id, ${iso('latest.at')} as last_at, ${LATEST_FINDING} as last_finding, ${iso('item.due_at')} as next_at,
         coalesce(latest.number, case when item.due_at is not null then 0 end) as attempts
       from unnest($1::uuid[]) as listed (id)
       left join payouts.verifications pending on pending.payout_id = listed.id
       left join work.items item on item.kind = '${VERIFICATION}' and item.key = listed.id::text
       left join lateral (
         select at, finding, number from payouts.checks where payout_id = listed.id order by number desc limit 1
       ) latest on true`,
      [payoutIds],
    );
    return new Map(rows.map(({ id, ...check }) => [id, check]));
  }

  list(payoutId: string): Promise<PayoutCheck[]> {
    return this.database.query<PayoutCheck & Record<string, unknown>>(
      `select ${iso('at')} as at, finding, node, head::float8 as head, confirmations::float8 as confirmations
       from payouts.checks where payout_id = $1 order by number desc limit ${MAX_CHECKS}`,
      [payoutId],
    );
  }

  @Periodic({ name: 'retention of checks of payouts', everyMs: HOUR_MS })
  async prune(signal?: AbortSignal): Promise<void> {
    const now = await earlierNow(this.database, this.clock);
    const before = new Date(now.getTime() - CHECKS_KEPT_DAYS * DAY_MS);
    await deleteBefore(this.database.pool, 'payouts.checks', 'at < $1', before, signal);
  }
}
