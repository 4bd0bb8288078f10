import { Inject, Injectable } from '@nestjs/common';
import { type HttpConfig, httpConfig } from '../../../platform/config/config.js';
import { LocalRateLimiter, refuseUntil } from '../../../platform/http/rate-limit.js';
import { exchangeConfig, type ExchangeConfig } from '../settings.js';

/** How many clients at their full share use up the budget of a key. */
const SHARES = 5;

/**
 * Requests that make a provider work, per key and minute in this process (ADR 150). What its owner sends has a budget of
 * its own; of the other one, a client has a share: a stranger with one link uses up neither the owner's calls nor, for all
 * keys, those that the provider allows the service.
 */
@Injectable()
export class ProviderBudget {
  private readonly clients: LocalRateLimiter;
  private readonly keys: LocalRateLimiter;
  private readonly owners: LocalRateLimiter;

  constructor(
    @Inject(exchangeConfig.KEY) { exchangeProviderCallsPerMinute }: ExchangeConfig,
    @Inject(httpConfig.KEY) { rateLimitPerMinute }: HttpConfig,
  ) {
    // Unless it is set, one client alone, such as a merchant's server, may call as often as anywhere else.
    const limit = exchangeProviderCallsPerMinute ?? SHARES * rateLimitPerMinute;
    this.clients = new LocalRateLimiter(Math.ceil(limit / SHARES));
    this.keys = new LocalRateLimiter(limit);
    this.owners = new LocalRateLimiter(limit);
  }

  /** `countedAs`: the key itself for requests of its owner, else key and client. Throws Refusal (429). */
  take(keyId: string, countedAs: string): void {
    refuseUntil(
      countedAs === keyId ? this.owners.take(keyId) : (this.clients.take(countedAs) ?? this.keys.take(keyId)),
    );
  }
}
