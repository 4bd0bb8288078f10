import { LRUCache } from 'lru-cache';
import { isUuid } from '../../../kernel/ids.js';
import type { MerchantCredentials, MerchantDirectory } from '../../../platform/http/merchant-directory.js';

/** How long an entry of the directory may be used: the longest a revoked key or a suspension goes unnoticed. */
export const FRESH_MS = 2000;
/** An entry in use is looked up again in the background once it has less than this left, so that no request waits. */
const REFRESH_BELOW_MS = 1000;
const MAX_KNOWN = 10_000;
/** Unknown api keys are kept apart, so that a flood of them pushes no merchant out. */
const MAX_UNKNOWN = 10_000;

/** The merchant directory in memory. `lookUp` is asked at most once at a time for each api key. */
export class CachedDirectory implements MerchantDirectory {
  private readonly known = new LRUCache<string, MerchantCredentials>({ max: MAX_KNOWN, ttl: FRESH_MS });
  private readonly unknown = new LRUCache<string, true>({ max: MAX_UNKNOWN, ttl: FRESH_MS });
  private readonly underWay = new Map<string, Promise<MerchantCredentials | null>>();

  constructor(private readonly lookUp: (merchantId: string) => Promise<MerchantCredentials | null>) {}

  async find(apiKey: string): Promise<MerchantCredentials | null> {
    if (!isUuid(apiKey)) return null;
    const merchantId = apiKey.toLowerCase();
    const found = this.known.get(merchantId);
    if (found !== undefined) {
      // When the look-up fails the entry runs out, and the next request reports the failure.
      if (this.known.getRemainingTTL(merchantId) < REFRESH_BELOW_MS)
        this.refresh(merchantId).catch(() => undefined);
      return found;
    }
    if (this.unknown.has(merchantId)) return null;
    return this.refresh(merchantId);
  }

  private refresh(merchantId: string): Promise<MerchantCredentials | null> {
    const running = this.underWay.get(merchantId);
    if (running !== undefined) return running;
    const started = this.load(merchantId).finally(() => this.underWay.delete(merchantId));
    this.underWay.set(merchantId, started);
    return started;
  }

  private async load(merchantId: string): Promise<MerchantCredentials | null> {
    // Fresh from the moment of asking: the entry may have been overtaken by the time it arrives.
    const start = performance.now();
    const found = await this.lookUp(merchantId);
    if (found === null) {
      this.known.delete(merchantId);
      this.unknown.set(merchantId, true, { start });
    } else {
      this.unknown.delete(merchantId);
      this.known.set(merchantId, found, { start });
    }
    return found;
  }
}
