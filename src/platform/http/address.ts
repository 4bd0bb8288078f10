import ipaddr from 'ipaddr.js';
import { isWithin } from '../config/cidrs.js';

/** Parses an IP address; an IPv4-mapped IPv6 address becomes IPv4. Returns null for any other text. */
export function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  return ipaddr.isValid(address) ? ipaddr.process(address) : null;
}

/** Checks that the address lies in one of the CIDRs. A malformed address or range matches nothing. */
export function isInside(address: string, cidrs: readonly string[]): boolean {
  const parsed = parseAddress(address);
  if (parsed === null) return false;
  return cidrs.some((cidr) => ipaddr.isValidCIDR(cidr) && isWithin(parsed, ipaddr.parseCIDR(cidr)));
}

const PRIVATE_RANGES = ['loopback', 'private', 'uniqueLocal', 'linkLocal'];

export function isPrivateAddress(address: string): boolean {
  return PRIVATE_RANGES.includes(parseAddress(address)?.range() ?? '');
}
