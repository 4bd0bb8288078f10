import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';

interface DayOfRequests {
  /** `YYYY-MM-DD`, in UTC. */
  readonly day: string;
  readonly requests: number;
  /** Those of them with a status from 400. */
  readonly refused: number;
}

/** How many requests did a merchant send on each of the last 90 days, and now? */
@Injectable()
export class DailyRequests {
  constructor(private readonly database: Database) {}

  /** Signed calls of the merchant API since `from`, in epoch milliseconds; counts at most `most`. */
  async since(merchantId: string, from: number, most: number): Promise<number> {
    const [row] = await this.database.query<{ requests: number }>(
      `select count(*)::int as requests from (select from access.requests where merchant_id = $1 and at > $2
       and credential_id is not null and path like '/merchants/%' limit $3) as recent`,
      [merchantId, new Date(from), most],
    );
    return row!.requests;
  }

  /** The newest first; days without requests are absent. */
  async of(merchantId: string): Promise<readonly DayOfRequests[]> {
    const rows = await this.database.query<{ day: string; requests: string; refused: string }>(
      `select day::text, requests, refused from access.daily_requests
       where merchant_id = $1 and day > (now() at time zone 'UTC')::date - 90 order by day desc`,
      [merchantId],
    );
    return rows.map(({ day, requests, refused }) => ({
      day,
      requests: Number(requests),
      refused: Number(refused),
    }));
  }
}
