import ipaddr from 'ipaddr.js';
import { DomainError } from '../../../kernel/domain-error.js';

/**
 * Canonical CIDRs of what an operator typed: a bare address becomes a range of one, doubles go.
 * Throws `validation_failed` on `cidrs` naming the first text that is no address or range.
 */
export function canonicalCidrs(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => canonicalCidr(text.trim())))].sort();
}

function canonicalCidr(text: string): string {
  const cidr = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
  if (!ipaddr.isValidCIDR(cidr) || (!cidr.includes(':') && !ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr))) {
    throw DomainError.invalid({ cidrs: [`"${text}" is not an address or a CIDR range`] });
  }
  const [address, bits] = ipaddr.parseCIDR(cidr);
  const network =
    address.kind() === 'ipv4'
      ? ipaddr.IPv4.networkAddressFromCIDR(cidr)
      : ipaddr.IPv6.networkAddressFromCIDR(cidr);
  return `${network.toString()}/${bits}`;
}
