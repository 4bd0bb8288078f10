import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { type ServedRequest, RequestLog } from '../../../platform/http/request-log.js';
import { columnArrays, deleteBefore } from '../../../platform/postgres/batches.js';
import { CopyWriter } from '../../../platform/postgres/copy-writer.js';
import { Database } from '../../../platform/postgres/database.js';
import { DAY_MS, HOUR_MS } from '../../../kernel/clock.js';
import { Background, BackgroundWork } from '../../../platform/background/background-work.js';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import { MinuteCounts } from '../../../platform/http/address.js';
import { Counter } from 'prom-client';
import { registers } from '../../../platform/telemetry/metrics.js';

/** The log has the last seven days: today's, and seven before it. */
const REQUESTS_KEPT_DAYS = 7;
const CREATED_AHEAD_DAYS = 3;
const USAGE_KEPT_DAYS = 90;
/** Half of the key of an advisory lock; the other is that of the table. */
const PARTITIONS_LOCK = 7331021;

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const nameOf = (day: string): string => `requests_${day.replaceAll('-', '')}`;

/** Creates and drops the partitions of `access.requests`, one per day in UTC, by the database's clock. */
@Injectable()
export class RequestPartitions {
  @Background()
  readonly work = new BackgroundWork({
    name: 'partitions of the request log',
    everyMs: HOUR_MS,
    role: 'any',
    run: (signal) => this.keep(signal),
  });

  constructor(private readonly database: Database) {}

  /** `now`: for tests; the database's clock when absent. */
  async keep(signal?: AbortSignal, now?: Date): Promise<void> {
    const today = (now ?? (await this.now())).getTime();
    await this.database.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [PARTITIONS_LOCK]);
      const { rows } = await tx.query<{ name: string }>(
        `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
         where i.inhparent = 'access.requests'::regclass`,
      );
      const present = new Set(rows.map(({ name }) => name));
      for (let day = -1; day <= CREATED_AHEAD_DAYS; day += 1) {
        const [from, to] = [dayOf(today + day * DAY_MS), dayOf(today + (day + 1) * DAY_MS)];
        if (!present.has(nameOf(from)))
          await tx.query(
            `create table access.${nameOf(from)} partition of access.requests
             for values from ('${from}T00:00:00Z') to ('${to}T00:00:00Z')`,
          );
      }
      const first = nameOf(dayOf(today - REQUESTS_KEPT_DAYS * DAY_MS));
      for (const name of present) if (name < first) await tx.query(`drop table access.${name}`);
    });
    const before = new Date(today - USAGE_KEPT_DAYS * DAY_MS);
    await deleteBefore(this.database.pool, 'access.daily_requests', 'day < $1::date', before, signal);
  }

  private async now(): Promise<Date> {
    const [row] = await this.database.query<{ now: Date }>('select clock_timestamp() as now');
    return row!.now;
  }
}

export interface RequestBatch {
  readonly requests: readonly ServedRequest[];
  /** Since the batch before, in the order of `merchantId`. */
  readonly usage: readonly {
    readonly merchantId: string;
    readonly requests: number;
    readonly refused: number;
  }[];
  /** Credentials that were used, in order. */
  readonly credentialIds: readonly string[];
}

/** Losing the last requests with the database's machine is better than a disk write for each batch. */
const BEGIN = 'begin; set local synchronous_commit = off; select clock_timestamp() as now';
const COLUMNS =
  'request_id, merchant_id, credential_id, at, method, path, query_names, status, duration_ms, refusal, string_to_sign';
const MAX_REFUSAL = 500;

const COUNT = `insert into access.daily_requests as total (merchant_id, day, requests, refused)
  select merchant_id, (now() at time zone 'UTC')::date, requests, refused
  from unnest($1::uuid[], $2::int[], $3::int[]) as more (merchant_id, requests, refused)
  on conflict (merchant_id, day) do update
  set requests = total.requests + excluded.requests, refused = total.refused + excluded.refused`;

const USED = `insert into access.credential_uses as credential (credential_id, last_used_at)
  select id, now() from unnest($1::uuid[]) as id
  on conflict (credential_id) do update set last_used_at = excluded.last_used_at
  where credential.last_used_at <= excluded.last_used_at - interval '1 minute'`;

/** Requests of the last seven days, when credentials were last used, and how many requests a merchant sent per day. */
@Injectable()
export class RequestTable {
  constructor(private readonly database: Database) {}

  /** Writes the batch, in one transaction. `repeated`: it may be written already. Times are by the database's clock. */
  async write(batch: RequestBatch, repeated: boolean): Promise<void> {
    await this.database.transaction(
      async (tx, began) => {
        if (repeated && (await isWritten(tx, batch))) return;
        const { now } = began.at(-1)!.rows[0] as { readonly now: Date };
        await copy(tx, batch.requests, now.getTime() - performance.now());
        const { usage, credentialIds } = batch;
        await tx.query(COUNT, columnArrays(usage, 'merchantId', 'requests', 'refused'));
        if (credentialIds.length > 0) await tx.query(USED, [credentialIds]);
      },
      { begin: BEGIN, bounded: true },
    );
  }
}

/** A batch is written as a whole. */
async function isWritten(tx: PoolClient, { requests: [first] }: RequestBatch): Promise<boolean> {
  if (first === undefined) return false;
  const sql = 'select exists (select from access.requests where request_id = $1) as found';
  const { rows } = await tx.query<{ found: boolean }>(sql, [first.requestId]);
  return rows[0]!.found;
}

/** `origin`: the epoch milliseconds at which `performance.now()` was 0, by the database's clock. */
async function copy(tx: PoolClient, requests: readonly ServedRequest[], origin: number): Promise<void> {
  if (requests.length === 0) return;
  const writer = new CopyWriter(tx);
  for (const request of requests) {
    const { requestId, merchantId, credentialId, method, path, queryNames, status, durationMs } = request;
    writer.add(
      `access.requests (${COLUMNS})`,
      requestId,
      merchantId,
      credentialId,
      new Date(origin + request.startedAt).toISOString(),
      method,
      path,
      // Names that need quotes are none of these.
      `{${queryNames.map((name) => `"${name}"`).join()}}`,
      status,
      durationMs.toFixed(2),
      // A text of PostgreSQL cannot hold it.
      request.refusal?.slice(0, MAX_REFUSAL).replaceAll('\0', '\ufffd') ?? null,
      request.stringToSign,
    );
  }
  await writer.finish();
}

const FLUSH_MS = 500;
const MAX_BATCH = 5000;
/** About 20 MB, and some seconds of full load. */
const MAX_BUFFERED = 40_000;
/** Points of one merchant, in a minute, and this process: one for a row, and one more for each of these bytes. */
const MAX_UNSIGNED = 300;
const BYTES_PER_POINT = 512;
/** The bound for one address. */
const MAX_OF_ADDRESS = 100;
const MAX_CREDENTIALS = 50_000;
const MINUTE_MS = 60_000;

const requestsLeftOut = new Counter({
  name: 'disburse_request_log_left_out_total',
  help: 'Requests of merchants that the request log left out: too many of a merchant that no secret signed (unsigned), the buffer was full while the database was unavailable (full), or the database refused their batch (refused).',
  labelNames: ['reason'] as const,
  registers,
});

interface Counts {
  requests: number;
  refused: number;
}

/**
 * Buffers requests and writes them in batches, never while a request waits. Api keys are public: of requests that no secret
 * signed a merchant's log takes {@link MAX_UNSIGNED} points a minute, so that a stranger cannot fill it; all are counted.
 * An address from which the merchant's secret signed before has its own share: strangers do not displace its refusals.
 */
@Injectable()
export class BufferedRequestLog extends RequestLog implements BeforeApplicationShutdown {
  @Background()
  readonly work = new BackgroundWork({
    name: 'request log',
    everyMs: FLUSH_MS,
    role: 'api',
    run: () => this.flush(),
    stopsWithProvider: true,
  });
  private buffer: ServedRequest[] = [];
  private counts = new Map<string, Counts>();
  /** What is being written, or could not be written yet. */
  private batch: RequestBatch | null = null;
  private readonly unsigned = new MinuteCounts(Date.now);
  /** Addresses and merchants of signed requests. */
  private readonly signers = new LRUCache<string, true>(upTo(MAX_CREDENTIALS));
  /** When the use of each credential was last written, by `performance.now()`. */
  private readonly used = new LRUCache<string, number>(upTo(MAX_CREDENTIALS));

  constructor(private readonly table: RequestTable) {
    super();
  }

  record(request: ServedRequest): void {
    this.count(request);
    if (this.isOneTooMany(request)) requestsLeftOut.inc({ reason: 'unsigned' });
    else if (this.buffer.length >= MAX_BUFFERED) requestsLeftOut.inc({ reason: 'full' });
    else this.buffer.push(request);
  }

  /** Writes what is buffered. Rejects when the database is unavailable; then the next run writes it. A batch of which it refuses a value is left out. */
  async flush(): Promise<void> {
    for (;;) {
      const repeated = this.batch !== null;
      this.batch ??= this.next();
      if (this.batch === null) return;
      await this.table.write(this.batch, repeated).catch((error: unknown) => {
        if (!isDataFault(error)) throw error;
        requestsLeftOut.inc({ reason: 'refused' }, this.batch!.requests.length);
        this.batch = null;
        throw error;
      });
      const at = performance.now();
      for (const id of this.batch.credentialIds) this.used.set(id, at);
      this.batch = null;
    }
  }

  /** The listeners have drained by now. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.work.stop();
    await this.flush().catch(() => undefined);
  }

  private isOneTooMany(request: ServedRequest): boolean {
    const { credentialId, merchantId, client } = request;
    const source = `${client} ${merchantId}`;
    if (credentialId !== null) {
      if (this.signers.get(source) === undefined) this.signers.set(source, true);
      return false;
    }
    const points = 1 + Math.floor(bytesOf(request) / BYTES_PER_POINT);
    const share = this.unsigned.add(source, points).points;
    if (this.signers.has(source)) return share > MAX_UNSIGNED;
    return share > MAX_OF_ADDRESS || this.unsigned.add(merchantId, points).points > MAX_UNSIGNED;
  }

  private count({ merchantId, status }: ServedRequest): void {
    let counts = this.counts.get(merchantId);
    if (counts === undefined) this.counts.set(merchantId, (counts = { requests: 0, refused: 0 }));
    counts.requests += 1;
    if (status >= 400) counts.refused += 1;
  }

  private next(): RequestBatch | null {
    if (this.counts.size === 0 && this.buffer.length === 0) return null;
    const requests = this.buffer.splice(0, MAX_BATCH);
    // In one order in every process: none waits for another that waits for it.
    const usage = [...this.counts].map(([merchantId, counts]) => ({ merchantId, ...counts }));
    usage.sort((a, b) => (a.merchantId < b.merchantId ? -1 : 1));
    this.counts = new Map();
    return { requests, usage, credentialIds: this.newlyUsed(requests) };
  }

  /** Those whose last use was written a minute ago or longer. */
  private newlyUsed(requests: readonly ServedRequest[]): readonly string[] {
    const before = performance.now() - MINUTE_MS;
    const ids = new Set<string>();
    for (const { credentialId } of requests)
      if (credentialId !== null && (this.used.get(credentialId) ?? -Infinity) <= before)
        ids.add(credentialId);
    return [...ids].sort();
  }
}

/** The lengths of the texts of a row. */
function bytesOf({ method, path, queryNames, refusal, stringToSign }: ServedRequest): number {
  return [method, path, ...queryNames, refusal ?? '', stringToSign ?? ''].join().length;
}

/** SQLSTATE class 22: a value that no column takes. The batch would be refused for ever. */
function isDataFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('22');
}
