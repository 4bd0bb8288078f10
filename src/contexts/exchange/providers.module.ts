import { Inject, Logger, Module, type OnModuleInit } from '@nestjs/common';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { HealthRegistry } from '../../platform/telemetry/health.js';
import { Countries } from './adapters/countries.js';
import { ObservedProvider } from './adapters/observed-provider.js';
import { ProviderRegistry } from './adapters/provider-registry.js';
import { SideShiftProvider } from './adapters/sideshift/sideshift-provider.js';
import { ComplianceNotices } from './application/compliance-notices.js';
import { Onramps } from './application/onramps.js';
import { ProviderReadiness } from './application/provider-readiness.js';
import {
  COUNTRY_OF,
  EXCHANGE_PROVIDERS,
  SANDBOX_PROVIDER,
  type CountryOf,
  type ExchangeProvider,
  type ExchangeProviders,
} from './application/ports.js';
import { TokenOffer } from './application/token-offer.js';
import { IconsController } from './http/icons.controller.js';
import { ProviderBudget } from './http/provider-budget.js';
import { SideShiftShifts } from './store/sideshift-shifts.js';

/** Injection tokens of providers: each is null where its settings are missing. One more provider is one more line. */
const SIDESHIFT = Symbol('SIDESHIFT');
const PROVIDERS = [{ token: SANDBOX_PROVIDER, optional: true }, SIDESHIFT];

/**
 * The providers, as {@link EXCHANGE_PROVIDERS}; what of the catalogue they can do, as {@link TokenOffer}; the icons; and
 * what is shown beside: {@link ComplianceNotices} and {@link Onramps}.
 */
@Module({
  controllers: [IconsController],
  providers: [
    SideShiftShifts,
    {
      provide: SIDESHIFT,
      inject: [CONFIG, SideShiftShifts, CLOCK],
      useFactory: (config: Config, shifts: SideShiftShifts, clock: Clock): SideShiftProvider | null => {
        const { sideshiftUrl, sideshiftSecret, sideshiftAffiliateId } = config;
        if (sideshiftSecret === null || sideshiftAffiliateId === null) return null;
        return new SideShiftProvider({ sideshiftUrl, sideshiftSecret, sideshiftAffiliateId }, shifts, clock);
      },
    },
    {
      provide: EXCHANGE_PROVIDERS,
      inject: [CONFIG, ...PROVIDERS],
      useFactory: (config: Config, ...all: (ExchangeProvider | null | undefined)[]): ExchangeProviders => {
        const configured = all.filter((provider) => provider !== null && provider !== undefined);
        const current = config.exchangeProvider ?? (config.mode === 'sandbox' ? 'sandbox' : null);
        return new ProviderRegistry(
          configured.map((provider) => new ObservedProvider(provider)),
          current,
        );
      },
    },
    ProviderReadiness,
    TokenOffer,
    {
      provide: COUNTRY_OF,
      inject: [CONFIG],
      // Without notices nobody asks, and the file need not be held.
      useFactory: ({ exchangeNotices, exchangeCountriesFile }: Config): CountryOf =>
        exchangeNotices === null ? { of: () => null } : new Countries(exchangeCountriesFile),
    },
    ComplianceNotices,
    Onramps,
    ProviderBudget,
  ],
  exports: [EXCHANGE_PROVIDERS, TokenOffer, ComplianceNotices, Onramps, ProviderBudget],
})
export class ProvidersModule implements OnModuleInit {
  private readonly logger = new Logger(ProvidersModule.name);

  constructor(
    @Inject(HealthRegistry) private readonly health: HealthRegistry,
    private readonly readiness: ProviderReadiness,
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles'>,
  ) {}

  onModuleInit(): void {
    this.health.register({ name: 'exchange', check: () => this.readiness.check() });
    // An operator's program has no role, and not the settings of those that have one.
    if (!this.readiness.isConfigured && this.config.roles.length > 0)
      this.logger.warn('no exchange orders: EXCHANGE_PROVIDER is not set');
  }
}
