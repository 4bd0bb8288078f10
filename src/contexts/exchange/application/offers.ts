import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config, listenerUrl } from '../../../platform/config/config.js';
import { offered, type Asset } from '../domain/catalog.js';
import { onrampUrl, SANDBOX_ONRAMPS, takes, type Onramp, type Purchase } from '../domain/onramps.js';
import { iconPath } from './icons.js';
import { COUNTRY_OF, type CountryOf } from './ports.js';
import { ExchangeProviders } from './provider-calls.js';

/** A token of `GET /v1/tokens` (contract.md 25.1). */
interface TokenListing {
  readonly id: string;
  readonly name: string;
  /** Absolute; under one URL the picture never changes. */
  readonly icon_url: string;
  readonly chains: readonly { readonly id: string; readonly name: string }[];
  readonly pair_ids: readonly string[];
}

/** The tokens that the provider of new orders exchanges. */
@Injectable()
export class TokenOffer {
  constructor(
    private readonly providers: ExchangeProviders,
    @Inject(CONFIG) private readonly config: Pick<Config, 'publicUrl' | 'host' | 'port'>,
  ) {}

  /** Throws DomainError `unavailable` when there is no provider. */
  to(asset: Asset): readonly TokenListing[] {
    return offered(asset, this.providers.current.pairIds).map(({ token, chains, pairs }) => ({
      id: token.id,
      name: token.name,
      icon_url: this.iconUrl(token.id),
      chains: chains.map(({ id, name }) => ({ id, name })),
      pair_ids: pairs.map(({ id }) => id),
    }));
  }

  iconUrl(tokenId: string): string {
    const base = this.config.publicUrl ?? listenerUrl(this.config.host, this.config.port);
    return `${base.replace(/\/+$/, '')}${iconPath(tokenId)}`;
  }
}

/** The configured on-ramp providers (contract.md 25.3). */
@Injectable()
export class Onramps {
  private readonly all: readonly Onramp[];

  constructor(@Inject(CONFIG) { exchangeOnramps, mode }: Pick<Config, 'exchangeOnramps' | 'mode'>) {
    this.all = exchangeOnramps ?? (mode === 'sandbox' ? SANDBOX_ONRAMPS : []);
  }

  get ids(): readonly string[] {
    return this.all.map(({ id }) => id);
  }

  /** Those that take the currency and the amount; `url` opens the shop for the purchase. `only`: their ids, null for all. */
  for(purchase: Purchase, only: readonly string[] | null): readonly Onramp[] {
    return this.all
      .filter((onramp) => (only === null || only.includes(onramp.id)) && takes(onramp, purchase))
      .map((onramp) => ({ ...onramp, url: onrampUrl(onramp, purchase) }));
  }
}

/** `compliance_notice` (contract.md 25.5): what is configured for the country of a caller's address. */
@Injectable()
export class ComplianceNotices {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'exchangeNotices'>,
    @Inject(COUNTRY_OF) private readonly countries: CountryOf,
  ) {}

  /** Null for most addresses, and for all of this machine and of private networks. Never throws. */
  of(address: string): string | null {
    const { exchangeNotices } = this.config;
    if (exchangeNotices === null) return null;
    const country = this.countries.of(address);
    return country === null ? null : (exchangeNotices.get(country) ?? null);
  }
}
