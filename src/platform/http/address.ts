import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { upTo } from '../cache-size.js';
import { isWithin } from '../config/cidrs.js';
import type { HttpConfig } from '../config/config.js';

/** The address in its plain form: an IPv4 address written as IPv6 is IPv4. Null for what is no address. */
function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  return ipaddr.isValid(address) ? ipaddr.process(address) : null;
}

/** Whether the address lies in one of the CIDRs. A malformed address or range matches nothing. */
export function isInside(address: string, cidrs: readonly string[]): boolean {
  const parsed = parseAddress(address);
  if (parsed === null) return false;
  return cidrs.some((cidr) => ipaddr.isValidCIDR(cidr) && isWithin(parsed, ipaddr.parseCIDR(cidr)));
}

const PRIVATE_RANGES = ['loopback', 'private', 'uniqueLocal', 'linkLocal'];

/** Whether the address is of this machine or of a private network. */
export function isPrivateAddress(address: string): boolean {
  return PRIVATE_RANGES.includes(parseAddress(address)?.range() ?? '');
}

/** One client: an IPv4 address, or the /64 of an IPv6 subscriber. */
export function clientOf(address: string): string {
  if (!address.includes(':')) return address;
  const parsed = parseAddress(address);
  if (parsed === null || parsed instanceof ipaddr.IPv4) return parsed?.toString() ?? address;
  return parsed.parts.slice(0, 4).join(':');
}

interface Count {
  points: number;
  readonly resetsAt: number;
}

/** The most names counted at once; the least recently used are evicted. */
const MAX_COUNTED = 50_000;
const WINDOW_MS = 60_000;

/** Counts points per name in windows of a minute, each of which starts with the first point. In this process alone. */
export class MinuteCounts {
  private readonly counts = new LRUCache<string, Count>(upTo(MAX_COUNTED));

  constructor(private readonly now: () => number) {}

  /** The current window; null when it has no points. */
  of(name: string): Count | null {
    const count = this.counts.get(name);
    return count === undefined || count.resetsAt <= this.now() ? null : count;
  }

  add(name: string, points: number): Count {
    let count = this.of(name);
    if (count === null) {
      count = { points: 0, resetsAt: this.now() + WINDOW_MS };
      this.counts.set(name, count);
    }
    count.points += points;
    return count;
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

/** Counts requests per address before authentication, in this process alone, to blunt floods cheaply. */
export class AddressRateLimiter {
  private readonly counts: MinuteCounts;

  constructor(
    readonly limit: number,
    now: () => number = Date.now,
  ) {
    this.counts = new MinuteCounts(now);
  }

  /** Counts one request. Null when it may pass, else the epoch milliseconds at which the next may. */
  take(address: string): number | null {
    const { points, resetsAt } = this.counts.add(clientOf(address), 1);
    return points > this.limit ? resetsAt : null;
  }
}
