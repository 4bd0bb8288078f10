import { isIP } from 'node:net';
import { DomainError } from '../../../kernel/domain-error.js';

/** Of each list. */
const MOST = 20;
/** Nothing but a host and a port: what stands beside them would be dropped, or mean something in a policy. */
const BARE = /^[a-z]+:\/\/[^/?#\\@\s]+\/?$/i;
/** A name in ASCII: browsers compare no other hosts with a policy. */
const NAME = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/;
const LOOPBACK = ['localhost', '127.0.0.1'];

/** Schemes that run, read or send something instead of leading back to an app, and those of the web (contract.md 18.2). */
const NO_APPS = new Set([
  ...[
    'javascript',
    'vbscript',
    'livescript',
    'data',
    'blob',
    'filesystem',
    'about',
    'view-source',
    'jar',
    'mhtml',
  ],
  ...['file', 'content', 'resource', 'chrome', 'chrome-extension', 'moz-extension', 'ms-browser-extension'],
  ...['intent', 'android-app', 'mailto', 'tel', 'sms', 'http', 'https', 'ws', 'wss', 'ftp'],
  // Other addresses in disguise: they open whatever stands behind them, in a reader, a browser or an installer.
  ...[
    'feed',
    'microsoft-edge',
    'googlechrome',
    'googlechromes',
    'firefox',
    'itms-services',
    'search',
    'search-ms',
  ],
  // Shares, shells and directories: a look at them tells who looks.
  ...['smb', 'nfs', 'ldap', 'ldaps', 'ssh', 'sftp', 'telnet', 'rlogin', 'dav', 'davs'],
]);
/** Windows' own programs: ms-msdt, ms-appinstaller, ms-settings and the like. */
const OF_WINDOWS = /^ms-/;

/** Whether a scheme, with its colon, may be one that an app has registered. */
export function leadsToApp(protocol: string): boolean {
  const isScheme = /^[a-z][a-z0-9+.-]*:$/.test(protocol);
  return isScheme && !NO_APPS.has(protocol.slice(0, -1)) && !OF_WINDOWS.test(protocol);
}

/**
 * Origins as browsers write them: lower case, punycode, no default port; doubles go. The sandbox takes http of this
 * machine too. Throws `validation_failed` on `origins`, naming the first text that is no such origin.
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

/** The same for where pages lead back to: https origins, or schemes of apps with their colon. */
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
  if (all.length > MOST) throw DomainError.invalid({ [field]: [`must be at most ${MOST}`] });
  return all;
}

function httpsOrigin(text: string): string | null {
  const url = bareUrl(text);
  if (url?.protocol !== 'https:') return null;
  // Browsers match no address of a host but that of this machine.
  return NAME.test(url.hostname) && isIP(url.hostname) === 0 ? url.origin : null;
}

function loopbackOrigin(text: string): string | null {
  const url = bareUrl(text);
  return url?.protocol === 'http:' && LOOPBACK.includes(url.hostname) ? url.origin : null;
}

function bareUrl(text: string): URL | null {
  return BARE.test(text) && URL.canParse(text) ? new URL(text) : null;
}
