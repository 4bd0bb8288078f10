import { LRUCache } from 'lru-cache';
import { isUuid } from '../../kernel/ids.js';

/** How long an entry of the directory may be used: the longest a revoked key or a suspension goes unnoticed. */
export const FRESH_MS = 2000;
/** An entry in use is looked up again in the background once it has less than this left, so that no request waits. */
const REFRESH_BELOW_MS = 1000;
const MAX_KNOWN = 10_000;
/** Unknown api keys are kept apart, so that a flood of them pushes no known one out. */
const MAX_UNKNOWN = 10_000;

/** Resolution 0: the time is asked anew at each look, not kept until a timer runs, which it does not in a process that stands still. */
const FRESHNESS = { ttl: FRESH_MS, ttlResolution: 0 };

interface LookUp<Entry> {
  /** By the process's own clock. */
  readonly askedAt: number;
  readonly found: Promise<Entry | null>;
}

/** A directory of API keys (uuids) in memory. `lookUp` is asked once for all who ask for a key within its freshness. */
export class CachedDirectory<Entry extends object> {
  private readonly known = new LRUCache<string, Entry>({ max: MAX_KNOWN, ...FRESHNESS });
  private readonly unknown = new LRUCache<string, true>({ max: MAX_UNKNOWN, ...FRESHNESS });
  private readonly underWay = new Map<string, LookUp<Entry>>();

  constructor(private readonly lookUp: (id: string) => Promise<Entry | null>) {}

  async find(apiKey: string): Promise<Entry | null> {
    if (!isUuid(apiKey)) return null;
    const id = apiKey.toLowerCase();
    const found = this.known.get(id);
    if (found !== undefined) {
      // When the look-up fails the entry runs out, and the next request reports the failure.
      if (this.known.getRemainingTTL(id) < REFRESH_BELOW_MS) this.refresh(id).catch(() => undefined);
      return found;
    }
    if (this.unknown.has(id)) return null;
    return this.refresh(id);
  }

  private refresh(id: string): Promise<Entry | null> {
    const running = this.underWay.get(id);
    const askedAt = performance.now();
    // What was asked for longer ago may arrive overtaken.
    if (running !== undefined && askedAt - running.askedAt < FRESH_MS) return running.found;
    const started: LookUp<Entry> = {
      askedAt,
      found: this.load(id, askedAt).finally(() => {
        if (this.underWay.get(id) === started) this.underWay.delete(id);
      }),
    };
    this.underWay.set(id, started);
    return started.found;
  }

  /** Fresh from the moment of asking: the entry may have been overtaken by the time it arrives. */
  private async load(id: string, start: number): Promise<Entry | null> {
    const found = await this.lookUp(id);
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
