import { Injectable } from '@nestjs/common';
import { MAX_DUE, type DueBacklog } from '../../../platform/operations/system-report.js';
import { Database } from '../../../platform/postgres/database.js';

/** Due items of `work.items`, by kind. */
@Injectable()
export class DueItems {
  constructor(private readonly database: Database) {}

  async backlogs(): Promise<readonly DueBacklog[]> {
    // The kinds by leaps through the primary key: a backlog may have millions of rows.
    const rows = await this.database.query<{ name: string; due: number; oldest_at: Date | null }>(
      `with recursive kinds as (
         (select kind from work.items order by kind limit 1)
         union all
         select (select kind from work.items where kind > last.kind order by kind limit 1)
         from kinds last where last.kind is not null
       )
       select kinds.kind as name, count(due.due_at)::int as due, min(due.due_at) as oldest_at
       from kinds left join lateral (
         select due_at from work.items item where item.kind = kinds.kind and due_at <= now() limit ${MAX_DUE}
       ) due on true
       where kinds.kind is not null group by kinds.kind order by kinds.kind`,
    );
    return rows.map(({ oldest_at: oldest, ...row }) => ({
      ...row,
      oldest_at: oldest?.toISOString() ?? null,
    }));
  }
}
