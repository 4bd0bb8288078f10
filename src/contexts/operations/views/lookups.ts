import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock, DAY_MS } from '../../../kernel/clock.js';
import { Database } from '../../../platform/postgres/database.js';
import { listPage, type KeysetPage } from '../../../platform/postgres/list-page.js';
import { KEPT_DAYS } from '../store/lookup-table.js';

/** An operator read data of a merchant, or changed it (admin-api.md 6). */
interface LookupJson {
  readonly at: Date;
  readonly operator_name: string;
  readonly kind: 'read' | 'write';
  readonly subject: string;
  /** Null for a read. */
  readonly reason: string | null;
}

/** Reads of lookups, and operations that were executed. */
const LOOKUPS = `(
  select merchant_id, at, id, operator_name, 'read' as kind, subject, null::text as reason from operations.lookups
  union all
  select merchant_id, executed_at, id, operator_name, 'write', name || ' ' || subject_kind || ' ' || subject_id, reason
  from operations.operations
) lookup`;

/** When operators read or changed data of a merchant, in the last 400 days. */
@Injectable()
export class LookupsView {
  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** The newest first. */
  async page(merchantId: string, page: KeysetPage) {
    const since = new Date(this.clock.now().getTime() - KEPT_DAYS * DAY_MS);
    const columns = 'at, operator_name, kind, subject, reason';
    const where = { 'merchant_id = ?': merchantId, 'at >= ?': since };
    const list = { columns, from: LOOKUPS, time: 'at', where };
    const { rows: lookups, next_cursor } = await listPage<LookupJson>(this.database, list, page);
    return { lookups, next_cursor };
  }
}
