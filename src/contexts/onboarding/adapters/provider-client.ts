import { OperatorHosts } from '../../../platform/outbound/guarded-hosts.js';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import { ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import type { Details } from '../domain/onboarding.js';

/** The timeout of one request. A step may send several within its 60 s lease. */
const PROVIDER_TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 1 << 20;

/** Creates the client of providers' packages: bounded in time and size, without redirects. */
export function providerClient(timeoutMs = PROVIDER_TIMEOUT_MS): OutboundClient {
  const limits = { timeoutMs, bodyBytes: MAX_RESPONSE_BYTES, keptBytes: MAX_RESPONSE_BYTES };
  return new OutboundClient(new OperatorHosts(), limits);
}

/** `why` quotes nothing of the provider, whose response may quote the request. */
export function unavailable(provider: string, why: string): ProviderUnavailable {
  return new ProviderUnavailable(`${provider} is unavailable: ${why}`);
}

/** The headers of a package's request, without those that the connection sets. */
export function plainHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(
        ([name, value]) =>
          value !== undefined && value !== null && !/^(connection|content-length|host)$/i.test(name),
      )
      .map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}

/** Providers require two names. One name is in both: documents have it in either field. */
export function requiredNames({ first_name, last_name }: Details) {
  return { first_name, last_name: last_name ?? first_name };
}
