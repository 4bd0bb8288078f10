import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { Pool, QueryConfig } from 'pg';
import { RateLimiterMemory, RateLimiterPostgres } from 'rate-limiter-flexible';
import { upTo } from '../cache-size.js';
import { httpConfig, type HttpConfig } from '../config/config.js';
import { GroupCall } from '../jobs/group-call.js';
import { bounded } from '../postgres/session-settings.js';
import type { KeyedHash } from '../sealing/keyed-hash.js';
import { parseAddress } from './address.js';
import type { ApiCaller } from './merchant-directory.js';
import { Refusal, type HttpProblem } from './problem.js';

/** The length of a window, which starts with the first request of a caller. */
export const WINDOW_SECONDS = 60;
/** The maximum number of callers in memory. An evicted caller leases requests again. */
const MAX_CALLERS = 50_000;
/** The timeout of the database. When it expires, the process counts only its own requests. */
const STORE_TIMEOUT_MS = 1000;

interface Quota {
  readonly allowed: boolean;
  readonly remaining: number;
  /** The end of the window in epoch milliseconds. */
  readonly resetsAt: number;
}

function retryAfterSeconds(resetsAt: number, now: number): number {
  return Math.max(1, Math.ceil((resetsAt - now) / 1000));
}

export function tooManyRequests(resetsAt: number, now: number): HttpProblem {
  const headers = { 'retry-after': String(retryAfterSeconds(resetsAt, now)) };
  return { status: 429, detail: 'Rate limit exceeded', headers };
}

export function refuseUntil(blockedUntil: number | null, now = Date.now()): void {
  if (blockedUntil !== null) throw new Refusal(tooManyRequests(blockedUntil, now));
}

interface Lease {
  /** The number of requests that the lease still allows. */
  readonly leased: number;
  /** The number of requests that the shared counter still allows. */
  readonly remaining: number;
  readonly resetsAt: number;
  readonly exhausted: boolean;
}

/** A caller with a rate limit: a merchant, a key of the exchange, or a credential of an operator. */
interface LimitedCaller {
  readonly counts: 'merchant' | 'key' | 'credential';
  readonly name: string;
  /** Requests per minute. */
  readonly limit: number;
}

interface Account {
  lease: Lease;
  readonly waiting: GroupCall<void, Quota>;
}

const NO_LEASE: Lease = { leased: 0, remaining: 0, resetsAt: 0, exhausted: false };

/**
 * The rate limits over all processes: a fixed window per caller in the database (contract.md 5.1). A process
 * leases at least 1 % of a limit. The names are hashed, because some contain addresses of people.
 */
export class RateLimits {
  /** Separate caches, because strangers can invent exchange keys, which must not evict other leases. */
  private readonly accounts = {
    merchant: new LRUCache<string, Account>(upTo(MAX_CALLERS)),
    key: new LRUCache<string, Account>(upTo(MAX_CALLERS)),
    credential: new LRUCache<string, Account>(upTo(MAX_CALLERS)),
  };
  private readonly shared: RateLimiterPostgres;

  constructor(
    pool: Pool,
    private readonly keyedHash: Pick<KeyedHash, 'of'>,
    private readonly now: () => number = Date.now,
  ) {
    // The limiter only counts, because limits differ by caller.
    const points = { points: Number.MAX_SAFE_INTEGER, duration: WINDOW_SECONDS, keyPrefix: '' };
    this.shared = new RateLimiterPostgres({
      ...points,
      storeClient: { query: (statement: QueryConfig) => pool.query(bounded(statement, STORE_TIMEOUT_MS)) },
      storeType: 'pool',
      schemaName: 'platform',
      tableName: 'rate_limits',
      tableCreated: true,
      insuranceLimiter: new RateLimiterMemory(points),
    });
  }

  /** Counts one request and sets the RateLimit headers. Throws a Refusal with 429 above the limit. */
  async admit(caller: LimitedCaller, reply: FastifyReply): Promise<void> {
    const { allowed, remaining, resetsAt } = await this.take(caller);
    const { counts, limit } = caller;
    // draft-ietf-httpapi-ratelimit-headers
    reply.header('ratelimit-policy', `"${counts}";q=${limit};w=${WINDOW_SECONDS}`);
    reply.header('ratelimit', `"${counts}";r=${remaining};t=${retryAfterSeconds(resetsAt, this.now())}`);
    if (!allowed) refuseUntil(resetsAt, this.now());
  }

  /** Counts one request. Returns its quota synchronously while the caller's lease lasts. */
  take(caller: LimitedCaller): Quota | Promise<Quota> {
    const accounts = this.accounts[caller.counts];
    const name = `${caller.name} ${caller.limit}`;
    let account = accounts.get(name);
    if (account === undefined) accounts.set(name, (account = this.open(caller)));
    return this.fromLease(account) ?? account.waiting.call();
  }

  /** Returns the usage in all processes, with leased requests. `resetsAt` is null without a window. */
  async usage(caller: LimitedCaller) {
    const found = await this.shared.get(this.keyFor(caller));
    const { limit } = caller;
    if (found === null || found.msBeforeNext <= 0) return { limit, used: 0, resetsAt: null };
    return { limit, used: Math.min(limit, found.consumedPoints), resetsAt: this.now() + found.msBeforeNext };
  }

  private keyFor({ counts, name }: LimitedCaller): string {
    return `${counts}:${this.keyedHash.of('rate limit', name)}`;
  }

  private open(caller: LimitedCaller): Account {
    const key = this.keyFor(caller);
    const serve = async ({ length }: readonly void[]): Promise<readonly Quota[]> => {
      const quotas: Quota[] = [];
      while (quotas.length < length) {
        const quota = this.fromLease(account);
        const points = Math.max(Math.ceil(caller.limit / 100), length - quotas.length);
        if (quota !== null) quotas.push(quota);
        else Object.assign(account, { lease: await this.consume(key, points, caller.limit) });
      }
      return quotas;
    };
    const account: Account = { lease: NO_LEASE, waiting: new GroupCall(serve) };
    return account;
  }

  private fromLease(account: Account): Quota | null {
    const { leased, remaining, resetsAt, exhausted } = account.lease;
    if (resetsAt <= this.now()) return null;
    if (leased === 0) return exhausted ? { allowed: false, remaining: 0, resetsAt } : null;
    account.lease = { ...account.lease, leased: leased - 1 };
    return { allowed: true, remaining: leased - 1 + remaining, resetsAt };
  }

  private async consume(key: string, points: number, limit: number): Promise<Lease> {
    const { consumedPoints, msBeforeNext } = await this.shared.consume(key, points);
    // A lease that would exceed the limit has only the points up to the limit.
    const leased = Math.max(0, points - Math.max(0, consumedPoints - limit));
    return {
      leased,
      exhausted: leased < points,
      remaining: Math.max(0, limit - consumedPoints),
      resetsAt: this.now() + Math.max(1, msBeforeNext),
    };
  }
}

/** Returns the IPv4 address, or the /64 prefix of an IPv6 address, which belongs to one subscriber. */
export function toClient(address: string): string {
  if (!address.includes(':')) return address;
  const parsed = parseAddress(address);
  if (parsed === null || parsed instanceof ipaddr.IPv4) return parsed?.toString() ?? address;
  return parsed.parts.slice(0, 4).join(':');
}

/** A rate limiter of this process, with a fixed window of a minute per name. */
export class LocalRateLimiter {
  private readonly windows = new LRUCache<string, { points: number; readonly resetsAt: number }>(
    upTo(MAX_CALLERS),
  );

  constructor(private readonly limit: number) {}

  /** Adds points to the name's window. Returns null within the limit, else the window's end in epoch ms. */
  take(name: string, points = 1): number | null {
    let window = this.windows.get(name);
    if (window === undefined || window.resetsAt <= Date.now()) {
      window = { points: 0, resetsAt: Date.now() + WINDOW_SECONDS * 1000 };
      this.windows.set(name, window);
    }
    window.points += points;
    return window.points > this.limit ? window.resetsAt : null;
  }

  /** Returns the same as `take`, but adds no points. */
  blockedUntil(name: string): number | null {
    const { points, resetsAt } = this.windows.get(name) ?? { points: 0, resetsAt: 0 };
    return points > this.limit && resetsAt > Date.now() ? resetsAt : null;
  }
}

const MERCHANTS_PER_ADDRESS = 60;
const MIN_PER_ADDRESS = 6000;

/** Returns the limit of an address in requests per minute (contract.md 5.3). */
export function addressLimit(config: HttpConfig): number {
  return (
    config.rateLimitPerIpPerMinute ??
    Math.max(MIN_PER_ADDRESS, MERCHANTS_PER_ADDRESS * config.rateLimitPerMinute)
  );
}

/** The rate limit of authentic callers. It must be the last of the global guards. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    private readonly limits: RateLimits,
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const { merchant } = reply.request.edge;
    if (merchant !== null) await this.limits.admit(this.limited(merchant), reply);
    return true;
  }

  usage(merchant: ApiCaller) {
    return this.limits.usage(this.limited(merchant));
  }

  private limited({ merchantId, callerId, countedAs, requestsPerMinute }: ApiCaller): LimitedCaller {
    const limit = this.config.rateLimitPerMinute;
    return callerId === undefined
      ? { counts: 'merchant', name: merchantId, limit: requestsPerMinute ?? limit }
      : { counts: 'key', name: countedAs ?? callerId, limit };
  }
}
