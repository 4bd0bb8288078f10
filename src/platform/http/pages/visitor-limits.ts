import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../config/config.js';
import { addressLimit, AddressRateLimiter, clientOf } from '../address.js';
import { Refusal } from '../problem.js';
import { tooManyRequests } from '../rate-limit.js';

/**
 * How often people may send requests. The ids of an owner (a merchant, a key) and of a visitor are public, so the limit is
 * that of each address, for each visitor and for all of an owner; requests above it share the limit of an address. Nobody
 * shuts out visitors from elsewhere (docs/adr/0108).
 */
@Injectable()
export class VisitorLimits {
  private readonly visitors: AddressRateLimiter;
  private readonly shares: AddressRateLimiter;
  private readonly owners: AddressRateLimiter;

  constructor(@Inject(CONFIG) config: Pick<Config, 'rateLimitPerMinute' | 'rateLimitPerIpPerMinute'>) {
    this.visitors = new AddressRateLimiter(config.rateLimitPerMinute);
    this.shares = new AddressRateLimiter(config.rateLimitPerMinute);
    this.owners = new AddressRateLimiter(addressLimit(config));
  }

  /** Counts a request. Throws {@link Refusal} (429). */
  take(address: string, owner: string, visitor: string): void {
    const client = clientOf(address);
    refuseUntil(this.visitors.take(`${client} ${visitor}`) ?? this.ofOwner(client, owner));
  }

  private ofOwner(client: string, owner: string): number | null {
    return this.shares.take(`${client} ${owner}`) === null ? null : this.owners.take(owner);
  }
}

/** Throws {@link Refusal} (429) until that time; returns for null. */
export function refuseUntil(blockedUntil: number | null): void {
  if (blockedUntil !== null) throw new Refusal(tooManyRequests(blockedUntil, Date.now()));
}
