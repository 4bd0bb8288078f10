import { OperatorHosts } from '../../../platform/outbound/guarded-hosts.js';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import { ProviderUnavailable } from '../application/ports.js';

/** Of one request, all in all; the lease of a step (60 s) holds for several. */
export const PROVIDER_TIMEOUT_MS = 10_000;
/** Far more than a provider says; what is longer is cut off, and then no JSON. */
const MOST_RESPONSE_BYTES = 1 << 20;

/** What the packages of providers send their requests through: bounded in time and size, and no redirect is followed. */
export function providerClient(timeoutMs = PROVIDER_TIMEOUT_MS): OutboundClient {
  const limits = { timeoutMs, bodyBytes: MOST_RESPONSE_BYTES, keptBytes: MOST_RESPONSE_BYTES };
  return new OutboundClient(new OperatorHosts(), limits);
}

/** `why` holds nothing of what a provider says: it may quote what was sent. */
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
