import type { Config } from '../../config/config.js';
import { addressLimit, AddressRateLimiter, clientOf } from '../address.js';
import type { Problem } from '../problem.js';
import { tooManyRequests } from '../rate-limit.js';

/**
 * How often people may ask. What names an owner (a merchant, a key) and a visitor is public, so the limit is that of each
 * address, for each visitor and for all of an owner; what addresses ask above it shares the limit of an address. Nobody
 * shuts out who comes from elsewhere (docs/adr/0108).
 */
export class VisitorLimits {
  private readonly visitors: AddressRateLimiter;
  private readonly shares: AddressRateLimiter;
  private readonly owners: AddressRateLimiter;

  constructor(config: Pick<Config, 'rateLimitPerMinute' | 'rateLimitPerIpPerMinute'>) {
    this.visitors = new AddressRateLimiter(config.rateLimitPerMinute);
    this.shares = new AddressRateLimiter(config.rateLimitPerMinute);
    this.owners = new AddressRateLimiter(addressLimit(config));
  }

  /** Counts a request. Null when it may pass. */
  refusal(address: string, owner: string, visitor: string): Problem | null {
    const client = clientOf(address);
    const blockedUntil = this.visitors.take(`${client} ${visitor}`) ?? this.blockedUntil(client, owner);
    return blockedUntil === null ? null : tooManyRequests(blockedUntil, Date.now());
  }

  private blockedUntil(client: string, owner: string): number | null {
    return this.shares.take(`${client} ${owner}`) === null ? null : this.owners.take(owner);
  }
}
