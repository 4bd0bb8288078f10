import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isWithin, type AddressRange } from '../config/cidrs.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Table = readonly (readonly [AddressRange, string])[];

export interface AddressPolicy {
  /** Hosts on this machine, and plain http: the sandbox. */
  readonly loopback: boolean;
  readonly allowed: readonly AddressRange[];
}

/** The ranges that are not public unicast: IANA's special-purpose registries of IPv4 and IPv6, multicast, class E. */
const REFUSED = ranges({
  'is an address of "this network"': ['0.0.0.0/8'],
  'is unspecified': ['::/128'],
  'is loopback': ['127.0.0.0/8', '::1/128'],
  'is link-local': ['169.254.0.0/16', 'fe80::/10'],
  'is private (RFC 1918)': ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  'is private (unique local)': ['fc00::/7'],
  'is shared address space of carriers (RFC 6598)': ['100.64.0.0/10'],
  'is reserved for protocols': ['192.0.0.0/24', '2001::/23'],
  'is reserved for documentation': [
    '192.0.2.0/24',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '2001:db8::/32',
    '3fff::/20',
  ],
  'is reserved for benchmarks': ['198.18.0.0/15'],
  'is reserved for segment routing': ['5f00::/16'],
  'is reserved (AS112)': ['192.31.196.0/24', '192.175.48.0/24', '2620:4f:8000::/48'],
  'is reserved (AMT)': ['192.52.193.0/24'],
  'is reserved (class E)': ['240.0.0.0/4'],
  'is a 6to4 relay': ['192.88.99.0/24'],
  'is a discard address': ['100::/64'],
  'is multicast': ['224.0.0.0/4', 'ff00::/8'],
});
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3');
const LOOPBACK = [ipaddr.parseCIDR('127.0.0.0/8'), ipaddr.parseCIDR('::1/128')];

/** IPv6 that holds an IPv4 address: always refused, also within an allowed range. */
const EMBEDDED = ranges({
  'is an IPv4-mapped address': ['::ffff:0:0/96'],
  'is an IPv4-translated address': ['::ffff:0:0:0/96'],
  'is an IPv4-compatible address': ['::/96'],
  'is a NAT64 address': ['64:ff9b::/96', '64:ff9b:1::/48'],
  'is a Teredo address': ['2001::/32'],
  'is a 6to4 address': ['2002::/16'],
});

/** The addresses at which clouds serve credentials of a machine. A broad range never allows one. */
const METADATA = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '169.254.42.42',
  '169.254.0.23',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:42::42',
  'fe80::a9fe:a9fe',
].map((each) => ipaddr.parse(each).toString());

function ranges(table: Readonly<Record<string, readonly string[]>>): Table {
  return Object.entries(table).flatMap(([reason, cidrs]) =>
    cidrs.map((cidr) => [ipaddr.parseCIDR(cidr), reason] as const),
  );
}

/** Returns the reason against connecting to this IP address ("is loopback"), or null. */
export function addressRefusal(text: string, policy: AddressPolicy): string | null {
  if (isIP(text) === 0) return 'is no IP address';
  if (text.includes('%')) return 'names a zone of one machine';
  const address = ipaddr.parse(text);
  return embeddedRefusal(address) ?? metadataRefusal(address, policy) ?? rangeRefusal(address, policy);
}

function embeddedRefusal(address: Address): string | null {
  if (address.kind() === 'ipv4' || isWithin(address, LOOPBACK[1]!)) return null;
  const bytes = address.toByteArray();
  if (bytes.every((byte) => byte === 0)) return null;
  // RFC 5214: an interface id of 0000:5efe or 0200:5efe and the IPv4 address, under any prefix.
  const interfaceId = [(bytes[8] ?? 0) & 0xfd, ...bytes.slice(9, 12)];
  if (interfaceId.join() === '0,0,94,254') return 'is an ISATAP address';
  return EMBEDDED.find(([range]) => isWithin(address, range))?.[1] ?? null;
}

function metadataRefusal(address: Address, policy: AddressPolicy): string | null {
  if (!METADATA.includes(address.toString())) return null;
  const named = policy.allowed.some(
    (range) => isWithin(address, range) && range[1] === address.toByteArray().length * 8,
  );
  return named ? null : 'is a cloud metadata address';
}

function rangeRefusal(address: Address, policy: AddressPolicy): string | null {
  if (policy.allowed.some((range) => isWithin(address, range))) return null;
  if (policy.loopback && LOOPBACK.some((range) => isWithin(address, range))) return null;
  const refused = REFUSED.find(([range]) => isWithin(address, range));
  if (refused) return refused[1];
  return address.kind() === 'ipv6' && !isWithin(address, GLOBAL_V6) ? 'is not public' : null;
}
