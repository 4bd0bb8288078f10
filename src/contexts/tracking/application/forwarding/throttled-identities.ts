import { LRUCache } from 'lru-cache';
import type { AnalyticsEvent } from '../ports.js';

const MOST_IDENTITIES = 10_000;
/** How many events of a throttled user or device go after each wait: at first, and halved when that was too many. */
const FIRST_SHARE = 300;

interface Share {
  /** On the clock of `performance.now()`. */
  readonly resumeAt: number;
  readonly waitMs: number;
  readonly size: number;
  left: number;
}

/**
 * Users and devices that the provider throttles because too much came of them lately: they get a pause, and then a share
 * at a time. One that does not use its share up is forgotten. In memory alone: after a restart the provider says it again.
 */
export class ThrottledIdentities {
  private readonly shares = new LRUCache<string, Share>({ max: MOST_IDENTITIES });

  /** 0 when the event may go now, which is then counted; else the milliseconds it has to wait. */
  waitMs(event: AnalyticsEvent, now: number): number {
    const shares: Share[] = [];
    for (const identity of identitiesOf(event)) {
      const share = this.shares.get(identity);
      if (share === undefined) continue;
      if (now < share.resumeAt) return share.resumeAt - now;
      if (share.left === 0) {
        this.pause(identity, share.size, share.waitMs, now);
        return share.waitMs;
      }
      shares.push(share);
    }
    for (const share of shares) share.left -= 1;
    return 0;
  }

  /** What the provider throttled of one request. */
  throttle(
    throttled: readonly { readonly event: AnalyticsEvent; readonly waitMs: number }[],
    now: number,
  ): void {
    const waits = new Map<string, number>();
    for (const { event, waitMs } of throttled)
      for (const identity of identitiesOf(event))
        waits.set(identity, Math.max(waitMs, waits.get(identity) ?? 0));
    for (const [identity, waitMs] of waits) {
      const size = this.shares.get(identity)?.size;
      this.pause(identity, size === undefined ? FIRST_SHARE : Math.max(1, Math.floor(size / 2)), waitMs, now);
    }
  }

  private pause(identity: string, size: number, waitMs: number, now: number): void {
    const share = { resumeAt: now + waitMs, waitMs, size, left: size };
    this.shares.set(identity, share, { ttl: 2 * waitMs });
  }
}

function identitiesOf({ userId, deviceId }: AnalyticsEvent): string[] {
  return deviceId === null ? [`user ${userId}`] : [`user ${userId}`, `device ${deviceId}`];
}
