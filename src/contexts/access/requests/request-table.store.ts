import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import type { RequestRecord } from '../../../platform/http/request-log.js';
import { columnArrays, deleteBefore } from '../../../platform/postgres/batches.js';
import { Database } from '../../../platform/postgres/database.js';
import { databaseNow } from '../../../platform/postgres/clock-check.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { DAY_MS, HOUR_MS } from '../../../kernel/clock.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { ApiProperty } from '../../../platform/dto/field.js';
import { digits, nullable, STRINGS, text, TEXT, TIME, uuid, UUID } from '../../../platform/dto/rules.js';
import { listPage } from '../../../platform/postgres/list-page.js';
import { Filter, ListParameters } from '../../../platform/http/list-query.js';
import { Fault } from '../../../kernel/fault.js';

const REQUESTS_KEPT_DAYS = 7;
const CREATED_AHEAD_DAYS = 3;
const USAGE_KEPT_DAYS = 90;
const PARTITIONS_LOCK = 7331021;

const toDay = (time: number): string => new Date(time).toISOString().slice(0, 10);
const toName = (day: string): string => `requests_${day.replaceAll('-', '')}`;

export class LoggedRequest {
  @ApiProperty(UUID) request_id!: string;
  @ApiProperty(UUID) merchant_id!: string;

  @ApiProperty(nullable(UUID, 'The secret that signed it; null: none was verified.'))
  credential_id!: string | null;

  @ApiProperty(TIME) at!: Date;
  @ApiProperty({ type: 'string' }) method!: string;
  @ApiProperty({ type: 'string' }) path!: string;

  @ApiProperty({ ...STRINGS, description: 'Names of the parameters in the query, without their values.' })
  query_names!: string[];

  @ApiProperty({ type: 'integer', minimum: 100, maximum: 599 }) status!: number;
  @ApiProperty({ type: 'number', minimum: 0 }) duration_ms!: number;

  @ApiProperty(nullable(TEXT, 'The `detail` of its problem.')) refusal!: string | null;

  @ApiProperty(
    nullable(
      TEXT,
      'Of a signature that did not match: what was to be signed, with the body as `sha256:<hex> (<length> bytes)`.',
    ),
  )
  string_to_sign!: string | null;
}

const MAX_PATH = 1024;

const pathPrefix = text({ maxLength: MAX_PATH, examples: ['/merchants/v1/payouts'] }, (value) =>
  value.startsWith('/') && value.length <= MAX_PATH && !value.includes('\0')
    ? value
    : new Fault('must begin with / and have at most 1024 characters'),
);

export class RequestsQuery extends ListParameters {
  @Filter(digits(100, 599), 'Only requests with this status.') status?: number;
  @Filter(pathPrefix, 'Only requests whose path begins so.') path?: string;
  @Filter(uuid, 'Only this request: the Request-Id of its response.') request_id?: string;
  @Filter(uuid, 'Only requests of this merchant.') merchant_id?: string;
}

export interface RequestBatch {
  readonly requests: readonly RequestRecord[];
  /** The counts since the previous batch. Refused requests have a status of at least 400. */
  readonly usage: readonly {
    readonly merchantId: string;
    readonly requests: number;
    readonly refused: number;
  }[];
  readonly credentialIds: readonly string[];
}

/** Begins a transaction whose commit does not wait for the disk. A crash may lose the last requests. */
const BEGIN = 'begin; set local synchronous_commit = off; select clock_timestamp() as now';
/** The column list. A later version may add columns, which this version must neither fill nor display. */
const COLUMNS =
  'request_id, merchant_id, credential_id, at, method, path, query_names, status, duration_ms, refusal, string_to_sign';
const INSERT = `insert into access.requests (${COLUMNS})
  select request_id, merchant_id, credential_id, at, method, path, names::text[], status, round(ms::numeric, 2), refusal, sent
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::smallint[],
              $9::float8[], $10::text[], $11::text[])
    as request (request_id, merchant_id, credential_id, at, method, path, names, status, ms, refusal, sent)`;
const MAX_REFUSAL = 500;

/** Adds the counts of a batch. Locks rows in a fixed order, which prevents deadlocks. */
const COUNT = `insert into access.daily_requests as total (merchant_id, day, requests, refused)
  select merchant_id, (now() at time zone 'UTC')::date, requests, refused
  from unnest($1::uuid[], $2::int[], $3::int[]) as more (merchant_id, requests, refused) order by merchant_id
  on conflict (merchant_id, day) do update
  set requests = total.requests + excluded.requests, refused = total.refused + excluded.refused`;

/** Updates last uses that are over a minute old. Locks rows in a fixed order, which prevents deadlocks. */
const USED = `insert into access.credential_uses (credential_id, last_used_at)
  select id, now() from unnest($1::uuid[]) as id where not exists (select from access.credential_uses
    where credential_id = id and last_used_at > now() - interval '1 minute') order by id
  on conflict (credential_id) do update set last_used_at = excluded.last_used_at`;

/** The request log of 7 days, daily counts of 90 days and last uses, by the clock of the database. */
@Injectable()
export class RequestTable {
  constructor(private readonly database: Database) {}

  /** Lists requests, newest first; null `merchants` means all. */
  async page(merchants: readonly string[] | null, { status, path, request_id, ...page }: RequestsQuery) {
    const list = {
      columns: COLUMNS,
      from: 'access.requests',
      time: 'at',
      id: 'request_id',
      lanes: { column: 'merchant_id', type: 'uuid', values: merchants },
      where: {
        [`at > now() - interval '7 days'`]: true,
        'status = ?': status,
        'request_id = ?': request_id,
        'path like ?': path && `${path.replaceAll(/[\\%_]/g, '\\$&')}%`,
      },
    } as const;
    const { rows: requests, next_cursor } = await listPage<LoggedRequest>(this.database, list, page);
    return { requests, next_cursor };
  }

  @Searches('requests:read')
  search({ uuid }: SearchQuery): Promise<readonly Found[]> {
    return this.database.query<Found>(
      `select 'request' as kind, request_id::text as id, merchant_id, method || ' ' || path || ', ' || status as title
       from access.requests where request_id = $1 and at > now() - interval '7 days'`,
      [uuid],
    );
  }

  /** Counts up to `most` signed calls of the merchant API since `from`, in epoch milliseconds. */
  async since(merchantId: string, from: number, most: number): Promise<number> {
    const [row] = await this.database.query<{ requests: number }>(
      `select count(*)::int as requests from (select from access.requests where merchant_id = $1 and at > $2
       and credential_id is not null and path like '/merchants/%' limit $3) as recent`,
      [merchantId, new Date(from), most],
    );
    return row!.requests;
  }

  /** Returns the counts per UTC day, newest first. Days without requests are absent. */
  days(merchantId: string): Promise<object[]> {
    return this.database.query(
      `select day::text, requests::float8, refused::float8 from access.daily_requests
       where merchant_id = $1 and day > (now() at time zone 'UTC')::date - 90 order by day desc`,
      [merchantId],
    );
  }

  /** Writes the batch in one transaction. If `repeated`, a former attempt may have written it already. */
  async write(batch: RequestBatch, repeated: boolean): Promise<void> {
    await this.database.transaction(
      async (tx, began) => {
        if (repeated && (await isWritten(tx, batch))) return;
        const { now } = began.at(-1)!.rows[0] as { readonly now: Date };
        await insert(tx, batch.requests, now.getTime() - performance.now());
        const { usage, credentialIds } = batch;
        await tx.query(COUNT, columnArrays(usage, 'merchantId', 'requests', 'refused'));
        if (credentialIds.length > 0) await tx.query(USED, [credentialIds]);
      },
      { begin: BEGIN, bounded: true },
    );
  }

  /** Creates and drops daily partitions, and deletes old counts. `now` defaults to the database's clock. */
  @Periodic({ name: 'partitions of the request log', everyMs: HOUR_MS, role: 'any' })
  async keep(signal?: AbortSignal, now?: Date): Promise<void> {
    const today = (now ?? (await databaseNow(this.database))).getTime();
    await this.database.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [PARTITIONS_LOCK]);
      const { rows } = await tx.query<{ name: string }>(
        `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
         where i.inhparent = 'access.requests'::regclass`,
      );
      const present = new Set(rows.map(({ name }) => name));
      for (let day = -1; day <= CREATED_AHEAD_DAYS; day += 1) {
        const [from, to] = [toDay(today + day * DAY_MS), toDay(today + (day + 1) * DAY_MS)];
        if (!present.has(toName(from)))
          await tx.query(
            `create table access.${toName(from)} partition of access.requests
             for values from ('${from}T00:00:00Z') to ('${to}T00:00:00Z')`,
          );
      }
      const first = toName(toDay(today - REQUESTS_KEPT_DAYS * DAY_MS));
      for (const name of present) if (name < first) await tx.query(`drop table access.${name}`);
    });
    const before = new Date(today - USAGE_KEPT_DAYS * DAY_MS);
    await deleteBefore(this.database.pool, 'access.daily_requests', 'day < $1::date', before, signal);
  }
}

/** Returns true if the first request is stored, because a batch is written as a whole. */
async function isWritten(tx: PoolClient, { requests: [first] }: RequestBatch): Promise<boolean> {
  if (first === undefined) return false;
  const sql = 'select exists (select from access.requests where request_id = $1) as found';
  const { rows } = await tx.query<{ found: boolean }>(sql, [first.requestId]);
  return rows[0]!.found;
}

/** Inserts requests. `origin` is the database time in epoch ms at which `performance.now()` was 0. */
async function insert(tx: PoolClient, requests: readonly RequestRecord[], origin: number): Promise<void> {
  if (requests.length === 0) return;
  const rows = requests.map((request) => ({
    ...request,
    at: new Date(origin + request.startedAt),
    // The names need no escape: they contain only word characters, dots and hyphens.
    names: `{${request.queryNames.map((name) => `"${name}"`).join()}}`,
    // PostgreSQL text cannot contain NUL.
    reason: request.refusal?.slice(0, MAX_REFUSAL).replaceAll('\0', '\ufffd') ?? null,
  }));
  const ids = ['requestId', 'merchantId', 'credentialId', 'at', 'method', 'path', 'names'] as const;
  await tx.query(INSERT, columnArrays(rows, ...ids, 'status', 'durationMs', 'reason', 'stringToSign'));
}
