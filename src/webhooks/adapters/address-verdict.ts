import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [network: Address, prefix: number];

/** What an operator allows besides public unicast. */
export interface AddressPolicy {
  /** Sandbox mode: receivers on this machine. */
  readonly loopback: boolean;
  readonly allowed: readonly Range[];
}

/** IPv4 that is not public unicast (IANA special-purpose registry), and the metadata address of one cloud that looks public. */
const REFUSED_V4 = ranges({
  '0.0.0.0/8': 'is an address of "this network"',
  '10.0.0.0/8': 'is private (RFC 1918)',
  '100.64.0.0/10': 'is shared address space of carriers (RFC 6598)',
  '127.0.0.0/8': 'is loopback',
  '168.63.129.16/32': 'is a cloud metadata address',
  '169.254.0.0/16': 'is link-local',
  '172.16.0.0/12': 'is private (RFC 1918)',
  '192.0.0.0/24': 'is reserved for protocols',
  '192.0.2.0/24': 'is reserved for documentation',
  '192.31.196.0/24': 'is reserved (AS112)',
  '192.52.193.0/24': 'is reserved (AMT)',
  '192.88.99.0/24': 'is a 6to4 relay',
  '192.168.0.0/16': 'is private (RFC 1918)',
  '192.175.48.0/24': 'is reserved (AS112)',
  '198.18.0.0/15': 'is reserved for benchmarks',
  '198.51.100.0/24': 'is reserved for documentation',
  '203.0.113.0/24': 'is reserved for documentation',
  '224.0.0.0/4': 'is multicast',
  '240.0.0.0/4': 'is reserved (class E)',
});

/** IPv6 inside 2000::/3 that is not public unicast, and names for what lies outside. */
const REFUSED_V6 = ranges({
  '::/128': 'is unspecified',
  '::1/128': 'is loopback',
  '::ffff:0:0/96': 'is an IPv4-mapped address',
  '::/96': 'is an IPv4-compatible address',
  '64:ff9b::/96': 'is a NAT64 address',
  '64:ff9b:1::/48': 'is a NAT64 address',
  '100::/64': 'is a discard address',
  '2001::/32': 'is a Teredo address',
  '2001::/23': 'is reserved for protocols',
  '2001:db8::/32': 'is reserved for documentation',
  '2002::/16': 'is a 6to4 address',
  '2620:4f:8000::/48': 'is reserved (AS112)',
  '3fff::/20': 'is reserved for documentation',
  'fc00::/7': 'is private (unique local)',
  'fe80::/10': 'is link-local',
  'ff00::/8': 'is multicast',
});
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3');
const LOOPBACK = [ipaddr.parseCIDR('127.0.0.0/8'), ipaddr.parseCIDR('::1/128')];

function ranges(table: Readonly<Record<string, string>>): readonly (readonly [Range, string])[] {
  return Object.entries(table).map(([cidr, reason]) => [ipaddr.parseCIDR(cidr), reason] as const);
}

function within(address: Address, [network, prefix]: Range): boolean {
  return address.kind() === network.kind() && address.match(network, prefix);
}

/** Why this IP address may not be connected to ("is loopback"); null when it may. */
export function addressRefusal(text: string, policy: AddressPolicy): string | null {
  if (!ipaddr.isValid(text)) return 'is no IP address';
  const address = ipaddr.parse(text);
  if (policy.allowed.some((range) => within(address, range))) return null;
  if (policy.loopback && LOOPBACK.some((range) => within(address, range))) return null;
  const table = address.kind() === 'ipv4' ? REFUSED_V4 : REFUSED_V6;
  const refused = table.find(([range]) => within(address, range));
  if (refused) return refused[1];
  return address.kind() === 'ipv6' && !within(address, GLOBAL_V6) ? 'is not public' : null;
}

/** Reads WEBHOOK_ALLOW_CIDRS. Throws an Error whose message names the value at fault. */
export function parseCidrs(list: string | null): readonly Range[] {
  return (list ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .map((each) => {
      if (!ipaddr.isValidCIDR(each))
        throw new Error(`WEBHOOK_ALLOW_CIDRS holds "${each}", which is no address range`);
      return ipaddr.parseCIDR(each);
    });
}
