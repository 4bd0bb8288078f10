import { LRUCache } from 'lru-cache';
import { upTo } from '../cache-size.js';
import type { Pool, QueryConfig } from 'pg';
import { RateLimiterMemory, RateLimiterPostgres, type RateLimiterRes } from 'rate-limiter-flexible';
import type { KeyedHash } from '../sealing/keyed-hash.js';
import { Refusal, type HttpProblem } from './problem.js';
import { GroupCall } from '../jobs/group-call.js';
import type { FastifyReply } from 'fastify';
import { bounded } from '../postgres/session-settings.js';

/** Length of the window in seconds; it starts with a caller's first request. */
export const WINDOW_SECONDS = 60;
/** The most callers in memory; one that is evicted leases new points from the shared counter. */
const MAX_CALLERS = 50_000;
/** The most limits at a time that differ from the default. */
const MAX_LIMITS = 1000;
/** How long the store may take before the process counts on its own. */
const STORE_TIMEOUT_MS = 1000;

/** What one request was granted, and what is left of the window. */
interface Quota {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Epoch milliseconds at which the window ends. */
  readonly resetsAt: number;
}

function retryAfterSeconds(resetsAt: number, now: number): number {
  return Math.max(1, Math.ceil((resetsAt - now) / 1000));
}

export function tooManyRequests(resetsAt: number, now: number): HttpProblem {
  const headers = { 'retry-after': String(retryAfterSeconds(resetsAt, now)) };
  return { status: 429, detail: 'Rate limit exceeded', headers };
}

/** Of the current window. */
export interface Usage {
  readonly limit: number;
  readonly used: number;
  /** Epoch milliseconds at which the window ends; null while nothing was used. */
  readonly resetsAt: number | null;
}

interface Lease {
  /** Points leased from the shared counter and not used yet. */
  readonly leased: number;
  /** What the shared counter said was left beyond the lease. */
  readonly remaining: number;
  readonly resetsAt: number;
  readonly exhausted: boolean;
}

/** One caller: what it has leased, and its requests that wait for a lease. */
interface Caller {
  lease: Lease;
  readonly waiting: GroupCall<void, Quota>;
}

const NO_LEASE: Lease = { leased: 0, remaining: 0, resetsAt: 0, exhausted: false };

/**
 * Counts requests per merchant, or per key of an API that has many, over all processes (contract.md 5.1): a fixed window in
 * the database that starts with the first request. A process leases points (1 for limits up to 100, one hundredth above);
 * requests that arrive during a query share the next lease, and leases never exceed the limit. The table has keyed hashes
 * of callers: some are addresses of people. When the database is unavailable the process counts alone, up to the limit.
 */
export class CallerRateLimiter {
  private readonly callers = new LRUCache<string, Caller>(upTo(MAX_CALLERS));
  private readonly lease: number;
  private readonly shared: RateLimiterPostgres;
  private readonly others = new LRUCache<number, CallerRateLimiter>(upTo(MAX_LIMITS));

  constructor(
    private readonly pool: Pool,
    readonly limit: number,
    private readonly keyedHash: Pick<KeyedHash, 'of'>,
    private readonly now: () => number = Date.now,
    private readonly counts: 'merchant' | 'key' | 'credential' = 'merchant',
    clearsExpired = true,
  ) {
    this.lease = Math.ceil(limit / 100);
    const points = { points: limit, duration: WINDOW_SECONDS };
    this.shared = new RateLimiterPostgres({
      ...points,
      storeClient: { query: (statement: QueryConfig) => pool.query(bounded(statement, STORE_TIMEOUT_MS)) },
      storeType: 'pool',
      schemaName: 'platform',
      tableName: 'rate_limits',
      keyPrefix: counts,
      tableCreated: true,
      clearExpiredByTimeout: clearsExpired,
      insuranceLimiter: new RateLimiterMemory(points),
    });
  }

  /** The limiter of callers with another limit, on the same counts; null: this one. */
  withLimit(limit: number | null): CallerRateLimiter {
    if (limit === null || limit === this.limit) return this;
    const known = this.others.get(limit);
    if (known !== undefined) return known;
    const other = new CallerRateLimiter(this.pool, limit, this.keyedHash, this.now, this.counts, false);
    this.others.set(limit, other);
    return other;
  }

  /** Takes one point and describes the rest in the headers of the response. Throws {@link Refusal} (429). */
  async admit(callerId: string, reply: FastifyReply): Promise<void> {
    const quota = await this.take(callerId);
    const retryAfter = retryAfterSeconds(quota.resetsAt, this.now());
    // draft-ietf-httpapi-ratelimit-headers
    reply.header('ratelimit-policy', `"${this.counts}";q=${this.limit};w=${WINDOW_SECONDS}`);
    reply.header('ratelimit', `"${this.counts}";r=${quota.remaining};t=${retryAfter}`);
    if (!quota.allowed) throw new Refusal(tooManyRequests(quota.resetsAt, this.now()));
  }

  /** Takes one point. Synchronous while a lease lasts, so that a high limit costs no query a request. */
  take(callerId: string): Quota | Promise<Quota> {
    const caller = this.callers.get(callerId) ?? this.add(callerId);
    return this.fromLease(caller) ?? caller.waiting.call();
  }

  /** What a caller has used in all processes. A lease that is not used up counts as used. */
  async usage(callerId: string): Promise<Usage> {
    const found = await this.shared.get(this.keyedHash.of('rate limit', callerId));
    const { limit } = this;
    if (found === null || found.msBeforeNext <= 0) return { limit, used: 0, resetsAt: null };
    return { limit, used: Math.min(limit, found.consumedPoints), resetsAt: this.now() + found.msBeforeNext };
  }

  private add(callerId: string): Caller {
    const waiting = new GroupCall<void, Quota>(({ length }) => this.serve(callerId, caller, length));
    const caller: Caller = { lease: NO_LEASE, waiting };
    this.callers.set(callerId, caller);
    return caller;
  }

  private fromLease(caller: Caller): Quota | null {
    const { leased, remaining, resetsAt, exhausted } = caller.lease;
    if (resetsAt <= this.now()) return null;
    if (leased === 0) return exhausted ? { allowed: false, remaining: 0, resetsAt } : null;
    caller.lease = { ...caller.lease, leased: leased - 1 };
    return { allowed: true, remaining: leased - 1 + remaining, resetsAt };
  }

  /** So many quotas, in order; where a lease is used up or over, of the next. */
  private async serve(callerId: string, caller: Caller, count: number): Promise<readonly Quota[]> {
    const quotas: Quota[] = [];
    while (quotas.length < count) {
      const quota = this.fromLease(caller);
      const points = Math.max(this.lease, count - quotas.length);
      if (quota !== null) quotas.push(quota);
      else Object.assign(caller, { lease: await this.consume(callerId, points) });
    }
    return quotas;
  }

  private async consume(callerId: string, points: number): Promise<Lease> {
    const key = this.keyedHash.of('rate limit', callerId);
    const result = await this.shared.consume(key, points).catch((refusal: RateLimiterRes) => refusal);
    return this.grantOf(result, points);
  }

  /** A refusal may still grant the points that were left before it. */
  private grantOf(result: RateLimiterRes, points: number): Lease {
    const excess = Math.max(0, result.consumedPoints - this.limit);
    const leased = Math.max(0, points - excess);
    return {
      leased,
      exhausted: leased < points,
      remaining: Math.max(0, this.limit - result.consumedPoints),
      resetsAt: this.now() + Math.max(1, result.msBeforeNext),
    };
  }
}
