import { LRUCache } from 'lru-cache';
import { upTo } from '../cache-size.js';
import { readUuid } from '../../kernel/ids.js';

/** What the edge must know of a merchant. */
export interface ApiCaller {
  readonly merchantId: string;
  /** One or, during a rotation, two private keys; the HMAC key is the UTF-8 bytes of each. */
  readonly privateKeys: readonly string[];
  /** The id of each of {@link privateKeys}. */
  readonly privateKeyIds?: readonly string[];
  readonly status: 'active' | 'suspended';
  /** CIDRs the merchant calls from; empty means anywhere. */
  readonly ipAllowList: readonly string[];
  /** Of the merchant; null or absent: the default. */
  readonly requestsPerMinute?: number | null;
  /** A key (a uuid) whose requests, responses and Idempotency-Keys are kept apart from the merchant's others. */
  readonly callerId?: string;
  /** What requests are counted as in place of `callerId`, when nothing shows that the key's owner sent them. */
  readonly countedAs?: string;
}

/** Whose the request is: the merchant's key where it has several that are kept apart, else the merchant. */
export function callerOf({ callerId, merchantId }: ApiCaller): string {
  return callerId ?? merchantId;
}

/** What pages of the merchant's users must know of it, besides. */
export interface KnownMerchant extends ApiCaller {
  /** Its name on pages. */
  readonly displayName: string;
  /** Origins that may show these pages in a frame; empty: none was named. */
  readonly origins: readonly string[];
  /** Where these pages may lead back to, origins or schemes of apps with their colon; empty: nothing was named. */
  readonly callbacks: readonly string[];
}

/** Finds a merchant by API key; the access context provides it. Every request calls it: it caches. */
export interface MerchantDirectory {
  find(apiKey: string): Promise<KnownMerchant | null>;
}

/** Nest injection token of the {@link MerchantDirectory}. */
export const MERCHANT_DIRECTORY = Symbol('MERCHANT_DIRECTORY');

/** How long an entry of the directory may be used: a revoked key or a suspension takes effect no later. */
export const FRESH_MS = 2000;
/** An entry in use is reloaded in the background once it has less than this left, so that no request waits. */
const REFRESH_BELOW_MS = 1000;
const MAX_KNOWN = 10_000;
/** Unknown api keys are kept apart, so that a flood of them pushes no known one out. */
const MAX_UNKNOWN = 10_000;

/** Resolution 0: each read gets the time, instead of keeping it until a timer runs, which a stalled process delays. */
const FRESHNESS = { ttl: FRESH_MS, ttlResolution: 0 };

interface PendingLoad<Entry> {
  /** By `performance.now()`. */
  readonly startedAt: number;
  readonly found: Promise<Entry | null>;
}

/** A directory of API keys in memory, by what `keyOf` reads from them. Concurrent requests for a key share one `query`. */
export class CachedDirectory<Entry extends object> {
  private readonly known = new LRUCache<string, Entry>({ ...upTo(MAX_KNOWN), ...FRESHNESS });
  private readonly unknown = new LRUCache<string, true>({ ...upTo(MAX_UNKNOWN), ...FRESHNESS });
  private readonly pending = new Map<string, PendingLoad<Entry>>();

  constructor(
    private readonly query: (id: string) => Promise<Entry | null>,
    /** Null for what can be no key: it is not queried. */
    private readonly keyOf: (apiKey: string) => string | null = readUuid,
  ) {}

  async find(apiKey: string): Promise<Entry | null> {
    const id = this.keyOf(apiKey);
    if (id === null) return null;
    const found = this.known.get(id);
    if (found !== undefined) {
      // When this fails the entry expires, and the next request reports the failure.
      if (this.known.getRemainingTTL(id) < REFRESH_BELOW_MS) this.refresh(id).catch(() => undefined);
      return found;
    }
    if (this.unknown.has(id)) return null;
    return this.refresh(id);
  }

  private refresh(id: string): Promise<Entry | null> {
    const running = this.pending.get(id);
    const startedAt = performance.now();
    // The result of an older query may be outdated.
    if (running !== undefined && startedAt - running.startedAt < FRESH_MS) return running.found;
    const started: PendingLoad<Entry> = {
      startedAt,
      found: this.load(id, startedAt).finally(() => {
        if (this.pending.get(id) === started) this.pending.delete(id);
      }),
    };
    this.pending.set(id, started);
    return started.found;
  }

  /** Freshness counts from the start of the query: the entry may be outdated when it arrives. */
  private async load(id: string, start: number): Promise<Entry | null> {
    const found = await this.query(id);
    if (found === null) {
      this.known.delete(id);
      this.unknown.set(id, true, { start });
    } else {
      this.unknown.delete(id);
      this.known.set(id, found, { start });
    }
    return found;
  }
}
