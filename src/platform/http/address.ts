import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config/config.js';

/** The address in its plain form: an IPv4 address written as IPv6 is IPv4. Null for what is no address. */
function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  return ipaddr.isValid(address) ? ipaddr.process(address) : null;
}

/** Whether the address lies in one of the CIDRs. A malformed address or range matches nothing. */
export function isInside(address: string, cidrs: readonly string[]): boolean {
  const parsed = parseAddress(address);
  if (parsed === null) return false;
  return cidrs.some((cidr) => {
    if (!ipaddr.isValidCIDR(cidr)) return false;
    const [range, bits] = ipaddr.parseCIDR(cidr);
    return range.kind() === parsed.kind() && parsed.match(range, bits);
  });
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
  requests: number;
  resetsAt: number;
}

/** The most clients counted at once; the ones not seen for longest are forgotten first. */
const MAX_CLIENTS = 50_000;
const WINDOW_MS = 60_000;

/** The default limit of an address: that of 60 merchants, and at least 6000. */
const MERCHANTS_PER_ADDRESS = 60;
const MIN_PER_ADDRESS = 6000;

/** Requests per minute that one address may send (contract.md 5.3). */
export function addressLimit(config: Pick<Config, 'rateLimitPerMinute' | 'rateLimitPerIpPerMinute'>): number {
  return (
    config.rateLimitPerIpPerMinute ??
    Math.max(MIN_PER_ADDRESS, MERCHANTS_PER_ADDRESS * config.rateLimitPerMinute)
  );
}

/** Counts requests per address before authentication, in this process alone, to blunt floods cheaply. */
export class AddressRateLimiter {
  private readonly counts = new LRUCache<string, Count>({ max: MAX_CLIENTS });

  constructor(
    readonly limit: number,
    private readonly now: () => number = Date.now,
  ) {}

  /** Counts one request. Null when it may pass, else the epoch milliseconds at which the next may. */
  take(address: string): number | null {
    const client = clientOf(address);
    const now = this.now();
    const count = this.counts.get(client);
    if (count === undefined || count.resetsAt <= now) {
      this.counts.set(client, { requests: 1, resetsAt: now + WINDOW_MS });
      return null;
    }
    count.requests += 1;
    return count.requests > this.limit ? count.resetsAt : null;
  }
}
