import type { HttpConfig } from '../../platform/config/config.js';
import { isPlainLoopback } from './portal/sites.page.js';
import {
  about,
  ConfigError,
  flag,
  anInteger,
  optional,
  setting,
  anyText,
  url,
  type Parser,
  defineConfig,
} from '../../platform/config/settings.js';

const pair: Parser<readonly [name: string, value: string]> = (given) => {
  const at = given.indexOf('=');
  if (at < 1 || at === given.length - 1) throw new Error('of the form name=value');
  return [given.slice(0, at).trim(), given.slice(at + 1).trim()];
};

const pairs: Parser<readonly (readonly [group: string, role: string])[]> = (given) =>
  given.split(',').map((each) => pair(each));

/** The settings of console logins and console sessions (admin-api.md 5). */
export const accessConfig = defineConfig('access', {
  consoleReadOnly: setting(flag, false, 'whether every write of a session of the console is refused.'),
  consoleIdleSeconds: setting(
    anInteger(1, 43_200),
    900,
    'how long a session of the console lasts without a request.',
  ),
  adminOidcIssuer: optional(
    url('http', 'https'),
    'the OpenID Connect issuer that operators sign in with; passkeys alone when not set.',
  ),
  adminOidcClientId: optional(anyText, 'the client id of the console at that issuer.'),
  adminOidcClientSecret: optional(anyText, 'its client secret; a public client when not set.', 'secret'),
  adminOidcClaim: optional(
    pair,
    'a claim that every operator must have, as name=value; of a list one element is enough.',
  ),
  adminOidcRoles: optional(
    pairs,
    'roles by groups (the claim groups) as group=role,group=role; the first that applies counts. It lowers roles at the login; raising one takes an operation with a second person.',
  ),
});

export type AccessConfig = ReturnType<typeof accessConfig>;

export function checkAccessSettings(config: AccessConfig & HttpConfig): void {
  const { adminOidcIssuer: issuer, adminOidcClientId: clientId, mode, roles, adminUrl } = config;
  const { adminOidcIssuer, adminOidcClientId } = accessConfig.settings;
  const addresses = { ADMIN_URL: adminUrl, PORTAL_URL: config.portalUrl };
  for (const [name, address] of Object.entries(addresses)) {
    if (address === null || address.startsWith('https:')) continue;
    if (mode === 'production') throw new ConfigError(`${name} must begin with https:// in production.`);
    if (!isPlainLoopback(address))
      throw new ConfigError(`${name} must begin with https:// unless its host is loopback.`);
  }
  if (issuer !== null && clientId === null)
    throw new ConfigError(
      `ADMIN_OIDC_CLIENT_ID must be set with ADMIN_OIDC_ISSUER. ${about(adminOidcClientId)}`,
    );
  if (issuer !== null && mode === 'production' && !issuer.startsWith('https://'))
    throw new ConfigError(
      `ADMIN_OIDC_ISSUER must begin with https:// in production. ${about(adminOidcIssuer)}`,
    );
  if (issuer !== null && mode === 'production' && roles.includes('admin') && adminUrl === null)
    throw new ConfigError(
      'ADMIN_URL must be set with ADMIN_OIDC_ISSUER, because the issuer redirects people to ADMIN_URL.',
    );
}
