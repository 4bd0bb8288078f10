import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type AddressRange = readonly [network: ipaddr.IPv4 | ipaddr.IPv6, prefix: number];

export function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, [network, prefix]: AddressRange): boolean {
  return address.kind() === network.kind() && address.match(network, prefix);
}

/** The shortest prefixes of private networks. A wider range, such as 0.0.0.0/0, is a mistake. */
const WIDEST = { ipv4: 8, ipv6: 7 };

/** Parses comma-separated ranges. The message of its Error completes the sentence "X must be ...". */
export function parseCidrs(list: string | null): readonly AddressRange[] {
  return (list ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .map((each) => {
      const fault = findFault(each);
      if (fault !== null)
        throw new Error(`a comma-separated list of address ranges, such as 10.1.0.0/16 (${each} ${fault})`);
      return ipaddr.parseCIDR(each);
    });
}

export function cidrs(text: string): string {
  parseCidrs(text);
  return text;
}

/** The names that Fastify accepts in place of address ranges. */
const NAMED_RANGES = ['loopback', 'linklocal', 'uniquelocal'];

/** Checks a list of proxies: addresses, ranges of any width and names of ranges. Returns it unchanged. */
export function proxies(text: string): string {
  const all = text.split(',').map((each) => each.trim());
  const isKnown = (each: string): boolean =>
    NAMED_RANGES.includes(each) || isIP(each) !== 0 || ipaddr.isValidCIDR(each);
  if (!all.every(isKnown))
    throw new Error('a comma-separated list of addresses and ranges, such as 10.1.2.3,10.2.0.0/16,loopback');
  return text;
}

function findFault(text: string): string | null {
  const [network = '', prefix = ''] = text.split('/');
  // isIP is stricter than ipaddr.js, which would read 010.0.0.0/8 as octal.
  const isRange = isIP(network) !== 0 && !network.includes('%') && /^\d{1,3}$/.test(prefix);
  if (!isRange || !ipaddr.isValidCIDR(text)) return 'is no address range';
  const range = ipaddr.parseCIDR(text);
  const widest = WIDEST[range[0].kind()];
  return range[1] < widest ? `is wider than /${widest}` : null;
}
