import { OperatorHosts } from '../../../platform/outbound/guarded-hosts.js';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import type { HttpResult } from '../../../platform/outbound/outbound-request.js';
import { ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import type { Details } from '../onboardings/onboarding.js';

/** The timeout of one request. A step may send several within its 60 s lease. */
const PROVIDER_TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 1 << 20;

/** The HTTP client of providers' packages, bounded in time and size. All requests go to `base`. */
export class ProviderClient extends OutboundClient {
  constructor(
    private readonly base: string,
    timeoutMs = PROVIDER_TIMEOUT_MS,
  ) {
    super(new OperatorHosts(), { timeoutMs, bodyBytes: MAX_RESPONSE_BYTES, keptBytes: MAX_RESPONSE_BYTES });
  }

  relay(method: string, url: string, headers: Headers, body: string): Promise<HttpResult> {
    const { pathname, search } = new URL(url);
    const to = this.base.replace(/\/+$/, '') + pathname + search;
    for (const own of ['connection', 'content-length', 'host']) headers.delete(own);
    const sent = Object.fromEntries(headers);
    return /^get$/i.test(method) ? this.get(to, sent) : this.post(to, sent, body);
  }
}

/** Returns the error. `why` must not quote the provider's response, which may quote the request. */
export function unavailable(provider: string, why: string): ProviderUnavailable {
  return new ProviderUnavailable(`${provider} is unavailable: ${why}`);
}

/** Returns the two names that providers require. A single name fills both. */
export function requiredNames({ first_name, last_name }: Details) {
  return { first_name, last_name: last_name ?? first_name };
}
