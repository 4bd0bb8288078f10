import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { isWithin } from '../../../platform/config/cidrs.js';

/**
 * Distinct canonical CIDRs; a bare address becomes a range of one. Throws `validation_failed` on `addresses`, naming the first
 * text that is no address or range.
 */
export function canonicalCidrs(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => canonicalCidr(text.trim())))].sort();
}

function canonicalCidr(text: string): string {
  const cidr = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
  if (!ipaddr.isValidCIDR(cidr) || (!cidr.includes(':') && !ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr))) {
    throw DomainError.invalid({ addresses: [`"${text}" is not an address or a CIDR range`] });
  }
  const [address, bits] = ipaddr.parseCIDR(cidr);
  const network =
    address.kind() === 'ipv4'
      ? ipaddr.IPv4.networkAddressFromCIDR(cidr)
      : ipaddr.IPv6.networkAddressFromCIDR(cidr);
  return `${network.toString()}/${bits}`;
}

/** Returns true when each range lies in one of `outer`. All ranges are canonical. */
export function areWithin(cidrs: readonly string[], outer: readonly string[]): boolean {
  const ranges = outer.map((each) => ipaddr.parseCIDR(each));
  return cidrs.every((each) => {
    const [network, bits] = ipaddr.parseCIDR(each);
    return ranges.some((range) => bits >= range[1] && isWithin(network, range));
  });
}

/** Entries of each list. */
const MAX_ENTRIES = 20;
/** A scheme, a host and a port: anything else would be dropped, or have a meaning in a policy. */
const BARE = /^[a-z]+:\/\/[^/?#\\@\s]+\/?$/i;
/** Browsers compare only ASCII names with a policy. */
const NAME = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/;
const LOOPBACK = ['localhost', '127.0.0.1'];

/**
 * Schemes that run, read or send something, and those of the web (contract.md 18.2); that open another address in a reader,
 * a browser or an installer; and of shares, shells and directories, where opening them identifies the user.
 */
const NO_APPS = new Set(
  `javascript vbscript livescript data blob filesystem about view-source jar mhtml file content
  resource chrome chrome-extension moz-extension ms-browser-extension intent android-app mailto
  tel sms http https ws wss ftp
  feed microsoft-edge googlechrome googlechromes firefox itms-services search search-ms
  smb nfs ldap ldaps ssh sftp telnet rlogin dav davs`.split(/\s+/),
);
/** Programs of Windows: ms-msdt, ms-appinstaller, ms-settings and the like. */
const OF_WINDOWS = /^ms-/;

/** Checks whether an app may have registered the scheme, given with its colon. */
export function leadsToApp(protocol: string): boolean {
  const isScheme = /^[a-z][a-z0-9+.-]*:$/.test(protocol);
  return isScheme && !NO_APPS.has(protocol.slice(0, -1)) && !OF_WINDOWS.test(protocol);
}

/**
 * Distinct origins as browsers write them: lower case, punycode, no default port. The sandbox accepts http of this
 * machine. Throws `validation_failed` on `origins`, naming the first text that is no such origin.
 */
export function canonicalOrigins(texts: readonly string[], mode: 'sandbox' | 'production'): string[] {
  return listOf('origins', texts, (text) => {
    const origin = httpsOrigin(text) ?? (mode === 'sandbox' ? loopbackOrigin(text) : null);
    if (origin !== null) return origin;
    throw DomainError.invalid({
      origins: [
        `"${text}" is not an origin such as https://shop.example: https, a host, no path, no wildcard`,
      ],
    });
  });
}

/** Https origins, or schemes of apps with their colon. Throws `validation_failed` on `callbacks`. */
export function canonicalCallbacks(texts: readonly string[]): string[] {
  return listOf('callbacks', texts, (text) => {
    const scheme = text.toLowerCase();
    if (leadsToApp(scheme)) return scheme;
    const origin = httpsOrigin(text);
    if (origin !== null) return origin;
    throw DomainError.invalid({
      callbacks: [
        `"${text}" is neither an origin such as https://shop.example nor the scheme of an app such as shopapp:`,
      ],
    });
  });
}

function listOf(field: string, texts: readonly string[], canonical: (text: string) => string): string[] {
  const all = [...new Set(texts.map((text) => canonical(text.trim())))].sort();
  if (all.length > MAX_ENTRIES) throw DomainError.invalid({ [field]: [`must be at most ${MAX_ENTRIES}`] });
  return all;
}

function httpsOrigin(text: string): string | null {
  const url = bareUrl(text);
  if (url?.protocol !== 'https:') return null;
  // Browsers match no IP address.
  return NAME.test(url.hostname) && isIP(url.hostname) === 0 ? url.origin : null;
}

function loopbackOrigin(text: string): string | null {
  const url = bareUrl(text);
  return url?.protocol === 'http:' && LOOPBACK.includes(url.hostname) ? url.origin : null;
}

function bareUrl(text: string): URL | null {
  return BARE.test(text) && URL.canParse(text) ? new URL(text) : null;
}
