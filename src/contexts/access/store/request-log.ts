import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Counter } from 'prom-client';
import { upTo } from '../../../platform/cache-size.js';
import { Background, BackgroundWork } from '../../../platform/jobs/background-work.js';
import { LocalRateLimiter } from '../../../platform/http/rate-limit.guard.js';
import { RequestLog, type RequestRecord } from '../../../platform/http/request-log.js';
import { registers } from '../../../platform/telemetry/metrics.js';
import { RequestTable, type RequestBatch } from './request-table.js';

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
  private buffer: RequestRecord[] = [];
  private counts = new Map<string, Counts>();
  /** The batch that is being written, or could not be written yet. */
  private batch: RequestBatch | null = null;
  /** Rows that no secret signed: of merchants and of signers' addresses, and of strangers' addresses. */
  private readonly unsigned = new LocalRateLimiter(MAX_UNSIGNED);
  private readonly strangers = new LocalRateLimiter(MAX_OF_ADDRESS);
  /** Addresses and merchants of signed requests. */
  private readonly signers = new LRUCache<string, true>(upTo(MAX_CREDENTIALS));
  /** The times at which the use of each credential was written, by `performance.now()`. */
  private readonly used = new LRUCache<string, number>(upTo(MAX_CREDENTIALS));

  constructor(private readonly table: RequestTable) {
    super();
  }

  record(request: RequestRecord): void {
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

  private isOneTooMany(request: RequestRecord): boolean {
    const { credentialId, merchantId, client } = request;
    const source = `${client} ${merchantId}`;
    if (credentialId !== null) {
      if (this.signers.get(source) === undefined) this.signers.set(source, true);
      return false;
    }
    const points = 1 + Math.floor(countBytes(request) / BYTES_PER_POINT);
    const blockedUntil = this.signers.has(source)
      ? this.unsigned.take(source, points)
      : (this.strangers.take(source, points) ?? this.unsigned.take(merchantId, points));
    return blockedUntil !== null;
  }

  private count({ merchantId, status }: RequestRecord): void {
    let counts = this.counts.get(merchantId);
    if (counts === undefined) this.counts.set(merchantId, (counts = { requests: 0, refused: 0 }));
    counts.requests += 1;
    if (status >= 400) counts.refused += 1;
  }

  private next(): RequestBatch | null {
    if (this.counts.size === 0 && this.buffer.length === 0) return null;
    const requests = this.buffer.splice(0, MAX_BATCH);
    // The order is the same in every process, so that no two wait for each other.
    const usage = [...this.counts].map(([merchantId, counts]) => ({ merchantId, ...counts }));
    usage.sort((a, b) => (a.merchantId < b.merchantId ? -1 : 1));
    this.counts = new Map();
    return { requests, usage, credentialIds: this.newlyUsed(requests) };
  }

  /** Returns the credentials whose last use was written a minute ago or longer. */
  private newlyUsed(requests: readonly RequestRecord[]): readonly string[] {
    const before = performance.now() - MINUTE_MS;
    const ids = new Set<string>();
    for (const { credentialId } of requests)
      if (credentialId !== null && (this.used.get(credentialId) ?? -Infinity) <= before)
        ids.add(credentialId);
    return [...ids].sort();
  }
}

/** The lengths of the texts of a row. */
function countBytes({ method, path, queryNames, refusal, stringToSign }: RequestRecord): number {
  return [method, path, ...queryNames, refusal ?? '', stringToSign ?? ''].join().length;
}

/** SQLSTATE class 22: a value that no column takes. The batch would be refused for ever. */
function isDataFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('22');
}
