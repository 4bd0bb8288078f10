import { Injectable } from '@nestjs/common';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { Database } from '../../../platform/postgres/database.js';

/** Finds merchants, credentials and operators by their ids, operators by email too, and logged requests by their ids. */
@Injectable()
export class AccessSearch {
  constructor(private readonly database: Database) {}

  @Searches('merchants:read')
  merchants({ uuid }: SearchQuery): Promise<readonly Found[]> {
    return this.rows(
      `select 'merchant' as kind, merchant_id::text as id, merchant_id, name || ', ' || status as title
       from access.merchants where merchant_id = $1`,
      uuid,
    );
  }

  @Searches('credentials:read')
  credentials({ uuid }: SearchQuery): Promise<readonly Found[]> {
    return this.rows(
      `select 'credential' as kind, credential_id::text as id, merchant_id,
         coalesce(name, 'Credential') || ' (' || kind || ')' as title
       from access.credentials
       where credential_id = $1 or (key_id = $1 and kind <> 'payouts') limit 20`,
      uuid,
    );
  }

  @Searches('operators:read')
  operators({ text, uuid }: SearchQuery): Promise<readonly Found[]> {
    return this.rows(
      `select 'operator' as kind, operator_id::text as id, null as merchant_id, name || ', ' || role as title
       from access.operators where operator_id = $1 or lower(email) = lower($2) limit 20`,
      uuid,
      text,
    );
  }

  @Searches('requests:read')
  requests({ uuid }: SearchQuery): Promise<readonly Found[]> {
    return this.rows(
      `select 'request' as kind, request_id::text as id, merchant_id, method || ' ' || path || ', ' || status as title
       from access.requests where request_id = $1 and at > now() - interval '7 days'`,
      uuid,
    );
  }

  private async rows(sql: string, ...values: readonly (string | null)[]): Promise<readonly Found[]> {
    if (values.every((value) => value === null)) return [];
    return this.database.query<Found & Record<string, unknown>>(sql, values);
  }
}
