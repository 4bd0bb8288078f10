import { Inject, Injectable, Module, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { Pool, QueryConfig } from 'pg';
import { RateLimiterMemory, RateLimiterPostgres, type RateLimiterRes } from 'rate-limiter-flexible';
import { upTo } from '../cache-size.js';
import { httpConfig, type HttpConfig } from '../config/config.js';
import { GroupCall } from '../jobs/group-call.js';
import { Database } from '../postgres/database.js';
import { bounded } from '../postgres/session-settings.js';
import { KeyedHash } from '../sealing/keyed-hash.js';
import { parseAddress } from './address.js';
import type { ApiCaller } from './merchant-directory.js';
import { Refusal, type HttpProblem } from './problem.js';
import { callerOf } from './request-state.js';

/** Length of the window in seconds; it starts with a caller's first request. */
export const WINDOW_SECONDS = 60;
/** The most callers in memory; one that is evicted leases new points from the shared counter. */
const MAX_CALLERS = 50_000;
/** The most limits at a time that differ from the default. */
const MAX_LIMITS = 1000;
/** How long the store may take before the process counts on its own. */
const STORE_TIMEOUT_MS = 1000;

/** The grant of one request, and the rest of the window. */
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

/** Throws {@link Refusal} (429) until that time; returns for null. */
export function refuseUntil(blockedUntil: number | null, now = Date.now()): void {
  if (blockedUntil !== null) throw new Refusal(tooManyRequests(blockedUntil, now));
}

/** The use of the current window. */
interface Usage {
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
    if (!quota.allowed) refuseUntil(quota.resetsAt, this.now());
  }

  /** Takes one point. Synchronous while a lease lasts, so that a high limit costs no query a request. */
  take(callerId: string): Quota | Promise<Quota> {
    const caller = this.callers.get(callerId) ?? this.add(callerId);
    return this.fromLease(caller) ?? caller.waiting.call();
  }

  /** What a caller has used in all processes. A lease that is not used up counts as used. */
  async usage(callerId: string): Promise<Usage> {
    const found = await this.shared.get(this.hash(callerId));
    const { limit } = this;
    if (found === null || found.msBeforeNext <= 0) return { limit, used: 0, resetsAt: null };
    return { limit, used: Math.min(limit, found.consumedPoints), resetsAt: this.now() + found.msBeforeNext };
  }

  private hash(callerId: string): string {
    return this.keyedHash.of('rate limit', callerId);
  }

  private add(callerId: string): Caller {
    const key = this.hash(callerId);
    const waiting = new GroupCall<void, Quota>(({ length }) => this.serve(key, caller, length));
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
  private async serve(key: string, caller: Caller, count: number): Promise<readonly Quota[]> {
    const quotas: Quota[] = [];
    while (quotas.length < count) {
      const quota = this.fromLease(caller);
      const points = Math.max(this.lease, count - quotas.length);
      if (quota !== null) quotas.push(quota);
      else Object.assign(caller, { lease: await this.consume(key, points) });
    }
    return quotas;
  }

  private async consume(key: string, points: number): Promise<Lease> {
    const result = await this.shared.consume(key, points).catch((refusal: RateLimiterRes) => refusal);
    // A refusal may still grant the points that were left before it.
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

/** One client: an IPv4 address, or the /64 of an IPv6 subscriber. */
export function clientOf(address: string): string {
  if (!address.includes(':')) return address;
  const parsed = parseAddress(address);
  if (parsed === null || parsed instanceof ipaddr.IPv4) return parsed?.toString() ?? address;
  return parsed.parts.slice(0, 4).join(':');
}

interface Window {
  points: number;
  readonly resetsAt: number;
}

/**
 * Counts points per name in windows of a minute, each of which starts with the first point. In this process alone: it
 * blunts floods cheaply.
 */
export class LocalRateLimiter {
  private readonly windows = new LRUCache<string, Window>(upTo(MAX_CALLERS));

  constructor(
    private readonly limit: number,
    private readonly now: () => number = Date.now,
  ) {}

  /** Counts the points. Null while the limit allows them, else the epoch milliseconds at which the next may come. */
  take(name: string, points = 1): number | null {
    let window = this.windows.get(name);
    if (window === undefined || window.resetsAt <= this.now()) {
      window = { points: 0, resetsAt: this.now() + WINDOW_SECONDS * 1000 };
      this.windows.set(name, window);
    }
    window.points += points;
    return this.blockedUntil(name);
  }

  /** As {@link take}, without a point. */
  blockedUntil(name: string): number | null {
    const { points, resetsAt } = this.windows.get(name) ?? { points: 0, resetsAt: 0 };
    return points > this.limit && resetsAt > this.now() ? resetsAt : null;
  }
}

/** The default limit of an address: that of 60 merchants, and at least 6000. */
const MERCHANTS_PER_ADDRESS = 60;
const MIN_PER_ADDRESS = 6000;

/** Requests per minute that one address may send (contract.md 5.3). */
export function addressLimit(config: HttpConfig): number {
  return (
    config.rateLimitPerIpPerMinute ??
    Math.max(MIN_PER_ADDRESS, MERCHANTS_PER_ADDRESS * config.rateLimitPerMinute)
  );
}

/** The rate limit of merchants, and of keys of an API that has many: counts what an {@link ApiGuard} found authentic. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  private readonly merchants: CallerRateLimiter;
  private readonly keys: CallerRateLimiter;

  constructor(
    { pool }: Database,
    keyedHash: KeyedHash,
    @Inject(httpConfig.KEY) { rateLimitPerMinute }: HttpConfig,
  ) {
    this.merchants = new CallerRateLimiter(pool, rateLimitPerMinute, keyedHash);
    this.keys = new CallerRateLimiter(pool, rateLimitPerMinute, keyedHash, Date.now, 'key');
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const { merchant } = http.getRequest<FastifyRequest>().edge;
    if (merchant === null) return true;
    const limiter = merchant.callerId === undefined ? this.limiterFor(merchant) : this.keys;
    await limiter.admit(merchant.countedAs ?? callerOf(merchant), http.getResponse<FastifyReply>());
    return true;
  }

  /** The use of the merchant's limit; `resetsAt`: epoch milliseconds, null while nothing is used. */
  usage(merchant: ApiCaller): Promise<Usage> {
    return this.limiterFor(merchant).usage(merchant.merchantId);
  }

  private limiterFor({ requestsPerMinute = null }: ApiCaller): CallerRateLimiter {
    return this.merchants.withLimit(requestsPerMinute);
  }
}

/** Nest runs global guards in the order of their modules: this one comes after those of the contexts, which name the caller. */
@Module({ providers: [{ provide: APP_GUARD, useExisting: RateLimitGuard }] })
export class RateLimitModule {}
