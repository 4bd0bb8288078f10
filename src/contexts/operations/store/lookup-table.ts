import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock, DAY_MS, HOUR_MS, timestamp } from '../../../kernel/clock.js';
import { deriveId } from '../../../kernel/ids.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { OperatorLookups } from '../../../platform/operations/operator-lookups.js';
import type { Requester } from '../../../platform/operations/operations.js';
import { deleteBefore } from '../../../platform/postgres/batches.js';
import { earlierNow } from '../../../platform/postgres/clock-check.js';
import { Database } from '../../../platform/postgres/database.js';

/** Of an ISO 8601 time: a page that is open and refreshed counts once in an hour. */
const HOUR = '2026-01-01T00'.length;
export const KEPT_DAYS = 400;

/** `operations.lookups`: when operators read data of a merchant. What they changed is in `operations.operations`. */
@Injectable()
export class LookupTable extends OperatorLookups {
  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    super();
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
