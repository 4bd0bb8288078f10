import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock, DAY_MS } from '../../../kernel/clock.js';
import { Database } from '../../../platform/postgres/database.js';
import { encodeCursor } from '../../../platform/postgres/page-cursor.js';
import type { KeysetPage } from '../../../platform/read-models/read-models.js';
import { KEPT_DAYS } from '../store/lookup-table.js';

/** An operator read data of a merchant, or changed it (admin-api.md 6). */
export interface LookupJson {
  readonly at: string;
  readonly operator_name: string;
  readonly kind: 'read' | 'write';
  readonly subject: string;
  /** Null for a read. */
  readonly reason: string | null;
}

/** When operators read or changed data of a merchant, in the last 400 days. */
@Injectable()
export class LookupsView {
  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** The newest first. */
  async page(
    merchantId: string,
    { pageSize, after }: KeysetPage,
  ): Promise<{ lookups: LookupJson[]; next_cursor: string | null }> {
    const since = new Date(this.clock.now().getTime() - KEPT_DAYS * DAY_MS);
    const rows = await this.database.query<Omit<LookupJson, 'at'> & { id: string; at: Date }>(
      `select * from (
         (select at, id, operator_name, 'read' as kind, subject, null as reason from operations.lookups
          where merchant_id = $1 and at >= $2 and ($3::timestamptz is null or (at, id) < ($3, $4::uuid))
          order by at desc, id desc limit $5)
         union all
         (select executed_at, id, operator_name, 'write', name || ' ' || subject_kind || ' ' || subject_id, reason
          from operations.operations where merchant_id = $1 and executed_at >= $2
            and ($3::timestamptz is null or (executed_at, id) < ($3, $4::uuid))
          order by executed_at desc, id desc limit $5)
       ) lookup order by at desc, id desc limit $5`,
      [merchantId, since, after?.createdAt ?? null, after?.id ?? null, pageSize + 1],
    );
    const page = rows.slice(0, pageSize);
    const last = rows.length > pageSize ? page.at(-1) : undefined;
    return {
      lookups: page.map(({ at, operator_name, kind, subject, reason }) => ({
        at: at.toISOString(),
        operator_name,
        kind,
        subject,
        reason,
      })),
      next_cursor: last ? encodeCursor({ createdAt: last.at, id: last.id }) : null,
    };
  }
}
