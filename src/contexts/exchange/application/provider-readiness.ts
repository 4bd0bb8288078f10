import { Inject, Injectable } from '@nestjs/common';
import { withTimeout } from '../../../platform/timeout.js';
import { EXCHANGE_PROVIDERS, type ExchangeProviders } from './ports.js';

/** Readiness asks for less than this, and more often than a provider likes to be asked. */
const TIMEOUT_MS = 1500;
const FRESH_MS = 10_000;

/**
 * What an operator should know of the provider that new orders go to. Without one, or while it is away, the process is
 * ready all the same: everything but new orders works, and elsewhere they would not either.
 */
@Injectable()
export class ProviderReadiness {
  private last: { readonly at: number; readonly detail: Promise<string | void> } | null = null;

  constructor(@Inject(EXCHANGE_PROVIDERS) private readonly providers: ExchangeProviders) {}

  get isConfigured(): boolean {
    try {
      return this.providers.current !== undefined;
    } catch {
      return false;
    }
  }

  async check(): Promise<string | void> {
    if (!this.isConfigured) return 'no exchange provider is configured: no order can be made';
    if (this.last === null || Date.now() - this.last.at >= FRESH_MS)
      this.last = { at: Date.now(), detail: this.ask() };
    return this.last.detail;
  }

  private async ask(): Promise<string | void> {
    const { current } = this.providers;
    const away = `the exchange provider ${current.name} is away: no order can be made`;
    return withTimeout(
      TIMEOUT_MS,
      current.ping().catch(() => away),
      () => away,
    );
  }
}
