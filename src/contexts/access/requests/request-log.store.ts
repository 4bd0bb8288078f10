import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Counter } from 'prom-client';
import { upTo } from '../../../platform/cache-size.js';
import { Background, BackgroundWork } from '../../../platform/jobs/background-work.js';
import { LocalRateLimiter } from '../../../platform/http/rate-limit.guard.js';
import { RequestLog, type RequestRecord } from '../../../platform/http/request-log.js';
import { registers } from '../../../platform/telemetry/metrics.js';
import { RequestTable, type RequestBatch } from './request-table.store.js';

const FLUSH_MS = 500;
const MAX_BATCH = 5000;
/** The maximum number of buffered requests: about 20 MB, or some seconds of full load. */
const MAX_BUFFERED = 40_000;
/** The points per minute and process for unsigned requests of a merchant or an address that has signed. */
const MAX_UNSIGNED = 300;
/** The bytes of a request per additional rate limit point. Every request costs at least one point. */
const BYTES_PER_POINT = 512;
/** The points per minute for unsigned requests of one merchant from one address that has not signed. */
const MAX_OF_ADDRESS = 100;
const MAX_SIGNERS = 50_000;

const requestsLeftOut = new Counter({
  name: 'disburse_request_log_left_out_total',
  help: 'Requests of merchants that the request log left out: too many of a merchant that no secret signed (unsigned), the buffer was full while the database was unavailable (full), or the database refused their batch (refused).',
  labelNames: ['reason'] as const,
  registers,
});

/**
 * Writes requests in batches, so that no request waits for a write. API keys are public, so a rate limit
 * keeps strangers from filling a merchant's log with unsigned requests. Addresses from which the merchant
 * has signed have separate limits, which strangers cannot use up. Counts include all requests.
 */
@Injectable()
export class BufferedRequestLog extends RequestLog implements BeforeApplicationShutdown {
  @Background()
  readonly work = new BackgroundWork({
    name: 'request log',
    everyMs: FLUSH_MS,
    role: 'any',
    run: () => this.flush(),
    stopsWithProvider: true,
  });
  private buffer: RequestRecord[] = [];
  private counts = new Map<string, { readonly requests: number; readonly refused: number }>();
  private uses = new Set<string>();
  /** The batch that is being written, or whose write failed. */
  private batch: RequestBatch | null = null;
  /** The limits per merchant, and per address from which a merchant has signed. */
  private readonly unsigned = new LocalRateLimiter(MAX_UNSIGNED);
  private readonly strangers = new LocalRateLimiter(MAX_OF_ADDRESS);
  /** The pairs of address and merchant with a signed request. */
  private readonly signers = new LRUCache<string, true>(upTo(MAX_SIGNERS));

  constructor(private readonly table: RequestTable) {
    super();
  }

  record(request: RequestRecord): void {
    this.count(request);
    if (request.credentialId !== null) this.recordUse(request.credentialId);
    if (this.isOneTooMany(request)) requestsLeftOut.inc({ reason: 'unsigned' });
    else if (this.buffer.length >= MAX_BUFFERED) requestsLeftOut.inc({ reason: 'full' });
    else this.buffer.push(request);
  }

  /** Records the use of a credential, exact to two minutes, even if its requests are not in the log. */
  recordUse(credentialId: string): void {
    this.uses.add(credentialId);
  }

  /** Writes the buffer. Rejects if the write fails; the next run retries. Drops a batch with a bad value. */
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
      this.batch = null;
    }
  }

  /** Writes the remaining requests after the HTTP listeners have drained. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.work.stop();
    await this.flush().catch(() => undefined);
  }

  private isOneTooMany(request: RequestRecord): boolean {
    const { credentialId, merchantId, client } = request;
    const source = `${client} ${merchantId}`;
    if (credentialId !== null) {
      this.signers.set(source, true);
      return false;
    }
    const points = 1 + Math.floor(countBytes(request) / BYTES_PER_POINT);
    const blockedUntil = this.signers.has(source)
      ? this.unsigned.take(source, points)
      : (this.strangers.take(source, points) ?? this.unsigned.take(merchantId, points));
    return blockedUntil !== null;
  }

  private count({ merchantId, status }: RequestRecord): void {
    const { requests, refused } = this.counts.get(merchantId) ?? { requests: 0, refused: 0 };
    const counts = { requests: requests + 1, refused: refused + (status >= 400 ? 1 : 0) };
    this.counts.set(merchantId, counts);
  }

  private next(): RequestBatch | null {
    if (this.counts.size + this.buffer.length + this.uses.size === 0) return null;
    const requests = this.buffer.splice(0, MAX_BATCH);
    const usage = [...this.counts].map(([merchantId, counts]) => ({ merchantId, ...counts }));
    this.counts = new Map();
    const credentialIds = [...this.uses];
    this.uses = new Set();
    return { requests, usage, credentialIds };
  }
}

function countBytes({ method, path, queryNames, refusal, stringToSign }: RequestRecord): number {
  return [method, path, ...queryNames, refusal ?? '', stringToSign ?? ''].join().length;
}

/** Checks for SQLSTATE class 22: a value that the database refuses in each retry. */
function isDataFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('22');
}
