import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { isWithin } from '../../../platform/config/cidrs.js';

/** Returns distinct canonical CIDRs. Throws `validation_failed` for a text that is no address or CIDR. */
export function canonicalCidrs(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => canonicalCidr(text.trim())))].sort();
}

function canonicalCidr(text: string): string {
  const cidr = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
  if (!ipaddr.isValidCIDR(cidr) || (!cidr.includes(':') && !ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr))) {
    throw DomainError.invalid({ addresses: [`"${text}" is not an address or a CIDR range`] });
  }
  const [address, bits] = ipaddr.parseCIDR(cidr);
  const { IPv4, IPv6 } = ipaddr;
  return `${(address.kind() === 'ipv4' ? IPv4 : IPv6).networkAddressFromCIDR(cidr).toString()}/${bits}`;
}

/** Checks that each range is within a range of `outer`. All ranges must be canonical. */
export function areWithin(cidrs: readonly string[], outer: readonly string[]): boolean {
  const ranges = outer.map((each) => ipaddr.parseCIDR(each));
  return cidrs.every((each) => {
    const [network, bits] = ipaddr.parseCIDR(each);
    return ranges.some((range) => bits >= range[1] && isWithin(network, range));
  });
}

const MAX_ENTRIES = 20;
/** A URL with only a scheme, host and port. A Content-Security-Policy would ignore or misread other parts. */
const BARE = /^[a-z]+:\/\/[^/?#\\@\s]+\/?$/i;
/** The ASCII host names. Browsers match no others in a Content-Security-Policy. */
const NAME = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/;
const LOOPBACK = ['localhost', '127.0.0.1'];

/**
 * The schemes that callbacks must not have. They open scripts, files, messages or web pages (contract.md
 * 18.2). Some open an address in another program, or identify the user to a network host.
 */
const NO_APPS = new Set(
  `javascript vbscript livescript data blob filesystem about view-source jar mhtml file content
  resource chrome chrome-extension moz-extension ms-browser-extension intent android-app mailto
  tel sms http https ws wss ftp
  feed microsoft-edge googlechrome googlechromes firefox itms-services search search-ms
  smb nfs ldap ldaps ssh sftp telnet rlogin dav davs`.split(/\s+/),
);
/** The schemes of Windows programs, such as ms-msdt, ms-appinstaller and ms-settings. */
const OF_WINDOWS = /^ms-/;

/** Checks that a scheme, including its colon, may belong to an app. */
export function leadsToApp(protocol: string): boolean {
  const isScheme = /^[a-z][a-z0-9+.-]*:$/.test(protocol);
  return isScheme && !NO_APPS.has(protocol.slice(0, -1)) && !OF_WINDOWS.test(protocol);
}

/** Returns https origins; the sandbox allows http on loopback. Throws `validation_failed` on `origins`. */
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

/** Returns https origins and app schemes with their colon. Throws `validation_failed` on `callbacks`. */
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
  // Browsers match no IP address against a Content-Security-Policy.
  return NAME.test(url.hostname) && isIP(url.hostname) === 0 ? url.origin : null;
}

function loopbackOrigin(text: string): string | null {
  const url = bareUrl(text);
  return url?.protocol === 'http:' && LOOPBACK.includes(url.hostname) ? url.origin : null;
}

function bareUrl(text: string): URL | null {
  return BARE.test(text) && URL.canParse(text) ? new URL(text) : null;
}
