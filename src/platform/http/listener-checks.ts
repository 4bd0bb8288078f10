import type { IncomingMessage, Server } from 'node:http';
import type { LoggerService } from '@nestjs/common';
import type { HttpConfig } from '../config/config.js';

const FORWARDED = ['x-forwarded-for', 'x-forwarded-proto', 'forwarded'];

/** True for a request with a header that proxies add. */
export function isForwarded({ headers }: IncomingMessage): boolean {
  return [...FORWARDED, 'x-real-ip', 'via'].some((name) => headers[name] !== undefined);
}

/** Logs once that requests carry headers of a proxy while none is trusted. */
export function noticeProxies(server: Server, config: HttpConfig, log: Pick<LoggerService, 'warn'>): void {
  if (config.trustProxy !== null) return;
  const check = ({ headers }: IncomingMessage): void => {
    const header = FORWARDED.find((name) => headers[name] !== undefined);
    if (header === undefined) return;
    server.off('request', check);
    log.warn(
      `A request came with ${header}, and TRUST_PROXY is not set: the header is ignored. Behind a proxy all clients share its address and its limits, and none counts as HTTPS: set TRUST_PROXY to its addresses.`,
    );
  };
  server.on('request', check);
}

/** What an operator should know of HTTPS and proxies before the first request: sentences for the log. */
export function httpsNotices(config: HttpConfig): readonly string[] {
  if (!config.roles.some((role) => role !== 'worker')) return [];
  const proxied = [config.publicUrl, config.widgetUrl].some((each) => each?.startsWith('https://'));
  const untrusted = config.trustProxy === null;
  const notices: readonly (readonly [applies: boolean, notice: string])[] = [
    [
      config.requireHttps,
      'HTTPS is demanded: requests that came without it get 403, health checks excepted. REQUIRE_HTTPS=false switches this off.',
    ],
    [
      config.mode === 'production' && !config.requireHttps,
      'REQUIRE_HTTPS is false: responses go in the clear.',
    ],
    [
      untrusted && config.requireHttps,
      'TRUST_PROXY is not set, and this process ends no TLS itself: every request will get 403. Set TRUST_PROXY to the addresses of the proxy that ends it.',
    ],
    [
      untrusted && !config.requireHttps && proxied,
      'TRUST_PROXY is not set, but the public URL begins with https:// and this process ends no TLS itself: all clients will share the address and the limits of the proxy. Set TRUST_PROXY to its addresses.',
    ],
  ];
  return notices.filter(([applies]) => applies).map(([, notice]) => notice);
}
