import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { listenerUrl } from '../../../platform/config/listener-url.js';
import type { Asset } from '../domain/catalog.js';
import { offered } from '../domain/tokens.js';
import { EXCHANGE_PROVIDERS, type ExchangeProviders } from './ports.js';
import { iconPath } from './icons.js';

/** One of `tokens` in `GET /v1/tokens`, in the order of its members (contract.md 25.1). */
export interface TokenShown {
  readonly id: string;
  readonly name: string;
  /** Absolute; the same picture for ever. */
  readonly icon_url: string;
  readonly chains: readonly { readonly id: string; readonly name: string }[];
  readonly pair_ids: readonly string[];
}

/** What can be exchanged, as it is shown: by pairs that the provider of new orders can do. */
@Injectable()
export class TokenOffer {
  constructor(
    @Inject(EXCHANGE_PROVIDERS) private readonly providers: ExchangeProviders,
    @Inject(CONFIG) private readonly config: Pick<Config, 'publicUrl' | 'host' | 'port'>,
  ) {}

  /** Throws DomainError `unavailable` when there is no provider. */
  to(asset: Asset): readonly TokenShown[] {
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
