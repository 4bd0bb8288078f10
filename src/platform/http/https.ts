import type { IncomingMessage, Server } from 'node:http';
import type { LoggerService } from '@nestjs/common';
import type { Config } from '../config/config.js';
import type { Problem } from './problem.js';

export const HTTPS_REQUIRED: Problem = { status: 403, detail: 'HTTPS is required' };

const FORWARDED = ['x-forwarded-for', 'x-forwarded-proto', 'forwarded'];

/** Says once in the log that a proxy seems to stand before a listener that believes none. */
export function noticeProxies(
  server: Server,
  config: Pick<Config, 'trustProxy'>,
  log: Pick<LoggerService, 'warn'>,
): void {
  if (config.trustProxy !== null) return;
  const look = ({ headers }: IncomingMessage): void => {
    const header = FORWARDED.find((name) => headers[name] !== undefined);
    if (header === undefined) return;
    server.off('request', look);
    log.warn(
      `A request came with ${header}, and TRUST_PROXY is not set: the header is not believed. Behind a proxy all clients share its address and its limits, and none counts as HTTPS: set TRUST_PROXY to its addresses.`,
    );
  };
  server.on('request', look);
}

/** What an operator should know of HTTPS and proxies before the first request: sentences for the log. */
export function httpsNotices(
  config: Pick<Config, 'mode' | 'roles' | 'requireHttps' | 'trustProxy' | 'publicUrl' | 'widgetUrl'>,
): readonly string[] {
  if (!config.roles.some((role) => role !== 'worker')) return [];
  const proxied = [config.publicUrl, config.widgetUrl].some((each) => each?.startsWith('https://'));
  const believed = config.trustProxy !== null;
  return [
    ...(config.requireHttps
      ? [
          'HTTPS is demanded: requests that came without it get 403, health checks excepted. REQUIRE_HTTPS=false switches this off.',
        ]
      : []),
    ...(config.mode === 'production' && !config.requireHttps
      ? ['REQUIRE_HTTPS is false: responses go in the clear.']
      : []),
    ...(!believed && config.requireHttps
      ? [
          'TRUST_PROXY is not set, and this process ends no TLS itself: every request will get 403. Set TRUST_PROXY to the addresses of the proxy that ends it.',
        ]
      : []),
    ...(!believed && !config.requireHttps && proxied
      ? [
          'TRUST_PROXY is not set, but the public URL begins with https:// and this process ends no TLS itself: all clients will share the address and the limits of the proxy. Set TRUST_PROXY to its addresses.',
        ]
      : []),
  ];
}
