import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isWithin, type AddressRange } from '../config/cidrs.js';
import ranges from './address-ranges.json' with { type: 'json' };

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Table = readonly (readonly [AddressRange, string])[];

export interface AddressPolicy {
  /** True in the sandbox: allows loopback addresses and plain http. */
  readonly loopback: boolean;
  readonly allowed: readonly AddressRange[];
}

/** The ranges that are not public unicast: IANA's special-purpose registries, multicast, class E. */
const REFUSED = toTable(ranges.refused);
/** IPv6 ranges that embed an IPv4 address: always refused, also within an allowed range. */
const EMBEDDED = toTable(ranges.embedded);
/** The addresses of cloud metadata with credentials. Only an allowed range of one address permits them. */
const METADATA = ranges.metadata.map((each) => ipaddr.parse(each).toString());
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3');
const LOOPBACK = [ipaddr.parseCIDR('127.0.0.0/8'), ipaddr.parseCIDR('::1/128')];

function toTable(table: Readonly<Record<string, readonly string[]>>): Table {
  return Object.entries(table).flatMap(([reason, cidrs]) =>
    cidrs.map((cidr) => [ipaddr.parseCIDR(cidr), reason] as const),
  );
}

/** Returns the reason for refusing a connection to this IP address ("is loopback"), or null. */
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
