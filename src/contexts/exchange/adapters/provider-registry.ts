import { DomainError } from '../../../kernel/domain-error.js';
import { ProviderUnavailable, type ExchangeProvider, type ExchangeProviders } from '../application/ports.js';

/** The providers that are configured, and the one that new orders go to. */
export class ProviderRegistry implements ExchangeProviders {
  private readonly providers: ReadonlyMap<string, ExchangeProvider>;

  constructor(
    providers: readonly ExchangeProvider[],
    /** Null, and a name that none of them has: there is none. */
    private readonly currentName: string | null,
  ) {
    this.providers = new Map(providers.map((provider) => [provider.name, provider]));
  }

  get current(): ExchangeProvider {
    const provider = this.providers.get(this.currentName ?? '');
    if (provider === undefined) throw new DomainError('unavailable', 'No exchange provider is configured');
    return provider;
  }

  of(name: string): ExchangeProvider {
    const provider = this.providers.get(name);
    if (provider === undefined)
      throw new ProviderUnavailable(`the exchange provider ${name} is not configured any more`);
    return provider;
  }
}
