import {
  Inject,
  Injectable,
  Logger,
  type InjectionToken,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { Database } from '../../../platform/postgres/database.js';
import { HealthRegistry } from '../../../platform/telemetry/health.js';
import { ProcessFacts } from '../../../platform/telemetry/process-facts.js';
import { CardIssuer, IdentityVerifier, SmsInbox, SmsSender, WalletProvisioner } from './providers.ports.js';
import {
  chooseProvider,
  onboardingConfig,
  PORTS,
  type OnboardingConfig,
  type Port,
} from '../onboarding.config.js';
import { StripeCards } from '../cards/stripe-api.adapter.js';
import { XpubWallets } from '../wallets/xpub-wallets.adapter.js';
import { failingPorts, providers } from '../onboarding.metrics.js';
import { OnfidoVerifier } from '../identity/onfido.adapter.js';
import {
  SandboxCards,
  SandboxIdentityVerifier,
  SandboxSms,
  SandboxWallets,
} from './sandbox-providers.adapter.js';
import { StripeCardIssuer } from '../cards/stripe.adapter.js';
import { TwilioSms } from '../phone/twilio-sms.adapter.js';

const absent = (provider: string) => (): Promise<never> =>
  Promise.reject(new DomainError('unavailable', `No ${provider} provider is configured`));

/** The substitute for a provider that is not configured. Onboardings wait for the configuration. */
class AbsentProvider implements SmsSender, IdentityVerifier, WalletProvisioner, CardIssuer {
  readonly provider = 'none';
  readonly send = absent('SMS');
  readonly decide = absent('identity verification');
  readonly provision = absent('wallet');
  readonly issue = absent('card');

  async forget(): Promise<void> {}
}

/** The injection token of each port and its providers by name. Their settings are validated at boot. */
const PROVIDERS: Readonly<
  Record<Port, readonly [token: InjectionToken, byName: Readonly<Record<string, object>>]>
> = {
  sms: [SmsSender, { sandbox: { useExisting: SandboxSms }, twilio: { useClass: TwilioSms } }],
  identity: [
    IdentityVerifier,
    { sandbox: { useClass: SandboxIdentityVerifier }, onfido: { useClass: OnfidoVerifier } },
  ],
  wallet: [
    WalletProvisioner,
    {
      sandbox: { useClass: SandboxWallets },
      xpub: {
        inject: [onboardingConfig.KEY, Database],
        useFactory: (config: OnboardingConfig, database: Database) =>
          XpubWallets.open(config.onboardingWalletXpub!, config.onboardingWalletFirstIndex, database),
      },
    },
  ],
  card: [CardIssuer, { sandbox: { useClass: SandboxCards }, stripe: { useClass: StripeCardIssuer } }],
};

export function createProviders(config: OnboardingConfig): Provider[] {
  const chosen = chooseProvider(config);
  return [
    StripeCards,
    // The sandbox always has an inbox, also with another SMS provider.
    ...(config.mode === 'sandbox' ? [SandboxSms, { provide: SmsInbox, useExisting: SandboxSms }] : []),
    ...(Object.keys(PROVIDERS) as Port[]).map((port) => {
      const [provide, byName] = PROVIDERS[port];
      return { provide, ...(byName[chosen[port]] ?? { useClass: AbsentProvider }) } as Provider;
    }),
  ];
}

/** Reports missing providers at boot, in metrics and in readiness. */
@Injectable()
export class ProviderReadiness implements OnModuleInit {
  private readonly logger = new Logger(ProviderReadiness.name);

  constructor(
    @Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig,
    private readonly health: HealthRegistry,
    private readonly facts: ProcessFacts,
  ) {}

  onModuleInit(): void {
    const chosen = Object.entries(chooseProvider(this.config)) as [Port, string][];
    for (const [port, provider] of chosen) providers.set({ port, provider }, 1);
    const missing = chosen
      .filter(([, provider]) => provider === 'none')
      .map(([port]) => `${PORTS[port].what} (${onboardingConfig.settings[PORTS[port].setting].name})`);
    const sentence =
      missing.length === 0 ? undefined : `no provider for ${missing.join(', ')}: onboardings wait`;
    // Operator programs have no role and may lack settings.
    if (sentence !== undefined && this.config.roles.length > 0) this.logger.warn(`onboarding: ${sentence}`);
    this.facts.register('providers', () =>
      chosen.map(([port, provider]) => ({
        name: `${port}:${provider}`,
        status: provider === 'none' ? 'missing' : failingPorts.has(port) ? 'unavailable' : 'ok',
      })),
    );
    // The check reports a detail and does not fail, because merchants are still served.
    this.health.register({ name: 'onboarding', check: () => Promise.resolve(sentence) });
  }
}
