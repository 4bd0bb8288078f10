import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock, DAY_MS, HOUR_MS, timestamp } from '../../../kernel/clock.js';
import { Database } from '../../../platform/postgres/database.js';
import { listPage, type KeysetPage } from '../../../platform/postgres/list-page.js';
import { deriveId } from '../../../kernel/ids.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { OperatorLookups, type Requester } from '../../../platform/operations/operations.js';
import { deleteBefore } from '../../../platform/postgres/batches.js';
import { earlierNow } from '../../../platform/postgres/clock-check.js';

/** The reads and changes of merchants' data by operators (admin-api.md 6). A read has no reason. */
const LOOKUPS = `(
  select merchant_id, at, id, operator_name, 'read' as kind, subject, null::text as reason from operations.lookups
  union all
  select merchant_id, executed_at, id, operator_name, 'write', name || ' ' || subject_kind || ' ' || subject_id, reason
  from operations.operations
) lookup`;

/** The length of an ISO 8601 time up to the hour. A repeated read is recorded once an hour. */
const HOUR = '2026-01-01T00'.length;
const KEPT_DAYS = 400;

@Injectable()
export class LookupsView extends OperatorLookups {
  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    super();
  }

  /** Returns the lookups of the last 400 days, newest first. */
  async page(merchantId: string, page: KeysetPage) {
    const since = new Date(this.clock.now().getTime() - KEPT_DAYS * DAY_MS);
    const columns = 'at, operator_name, kind, subject, reason';
    const where = { 'merchant_id = ?': merchantId, 'at >= ?': since };
    const list = { columns, from: LOOKUPS, time: 'at', where };
    const { rows: lookups, next_cursor } = await listPage<Record<string, unknown>>(this.database, list, page);
    return { lookups, next_cursor };
  }

  async record(
    { operatorId, name }: Pick<Requester, 'operatorId' | 'name'>,
    merchantIds: readonly string[],
    subject: string,
  ): Promise<void> {
    const merchants = [...new Set(merchantIds)];
    if (merchants.length === 0) return;
    const at = timestamp(this.clock);
    const ids = merchants.map((each) =>
      deriveId('lookup', each, operatorId ?? '', subject, at.slice(0, HOUR)),
    );
    await this.database.query(
      `insert into operations.lookups (id, merchant_id, at, operator_id, operator_name, subject)
       select id, merchant_id, $3, $4, $5, $6
       from unnest($1::uuid[], $2::uuid[]) as read (id, merchant_id) on conflict (id) do nothing`,
      [ids, merchants, at, operatorId, name, subject],
    );
  }

  @Periodic({ name: 'retention of lookups', everyMs: HOUR_MS })
  async prune(signal?: AbortSignal): Promise<void> {
    const now = await earlierNow(this.database, this.clock);
    const before = new Date(now.getTime() - KEPT_DAYS * DAY_MS);
    await deleteBefore(this.database.pool, 'operations.lookups', 'at < $1', before, signal);
  }
}
