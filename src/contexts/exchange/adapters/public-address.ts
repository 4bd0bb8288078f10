import ipaddr from 'ipaddr.js';

/** The network address in its plain form: IPv4 when it is written as IPv6. Null for what is none, and for one that is not public. */
export function publicAddress(text: string): string | null {
  if (!ipaddr.isValid(text)) return null;
  const address = ipaddr.process(text);
  return address.range() === 'unicast' ? address.toString() : null;
}
