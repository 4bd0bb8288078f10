import {
  Inject,
  Injectable,
  Logger,
  type ClassProvider,
  type ExistingProvider,
  type FactoryProvider,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { Database } from '../../../platform/postgres/database.js';
import { HealthRegistry } from '../../../platform/telemetry/health.js';
import { ProcessFacts } from '../../../platform/telemetry/process-facts.js';
import { isFailing } from '../application/provider-call.js';
import {
  CALLBACK_READER,
  CARD_ISSUER,
  IDENTITY_VERIFIER,
  SMS_INBOX,
  SMS_SENDER,
  WALLET_PROVISIONER,
  type CardIssuer,
  type IdentityVerifier,
  type SmsSender,
  type WalletProvisioner,
} from '../application/ports.js';
import { chooseProvider, onboardingConfig, type OnboardingConfig } from '../settings.js';
import { StripeCards } from './stripe/stripe-api.js';
import { XpubWallets } from './xpub-wallets.js';
import { providers } from '../metrics.js';
import { OnfidoCallbacks } from './onfido/onfido-api.js';
import { OnfidoVerifier } from './onfido/onfido-verifier.js';
import { SandboxCards, SandboxIdentityVerifier, SandboxSms, SandboxWallets } from './sandbox-providers.js';
import { StripeCardIssuer } from './stripe/stripe-card-issuer.js';
import { TwilioSms } from './twilio-sms.js';

const absent = (provider: string) => (): Promise<never> =>
  Promise.reject(new DomainError('unavailable', `No ${provider} provider is configured`));

/** The substitute of a provider that is not configured. Onboardings wait, and no data are lost. */
class AbsentProvider implements SmsSender, IdentityVerifier, WalletProvisioner, CardIssuer {
  readonly provider = 'none';
  readonly send = absent('SMS');
  readonly decide = absent('identity verification');
  readonly provision = absent('wallet');
  readonly issue = absent('card');

  async replace(): Promise<void> {}

  async forget(): Promise<void> {}
}

type Recipe = Omit<ClassProvider | FactoryProvider | ExistingProvider, 'provide'>;

interface Port {
  readonly what: string;
  /** Names who does it. */
  readonly setting: string;
  readonly token: symbol;
  /** The recipes by name. The boot has checked that the account of each is configured. */
  readonly by: Readonly<Record<string, Recipe>>;
}

const none: Recipe = { useClass: AbsentProvider };
const xpub: Recipe = {
  inject: [onboardingConfig.KEY, Database],
  useFactory: (config: OnboardingConfig, database: Database) =>
    XpubWallets.open(config.onboardingWalletXpub!, config.onboardingWalletFirstIndex, database),
};
const PORTS = {
  sms: {
    what: 'codes by SMS',
    setting: 'ONBOARDING_SMS',
    token: SMS_SENDER,
    by: { none, sandbox: { useExisting: SandboxSms }, twilio: { useClass: TwilioSms } },
  },
  identity: {
    what: 'identity verification',
    setting: 'ONBOARDING_IDENTITY',
    token: IDENTITY_VERIFIER,
    by: { none, sandbox: { useClass: SandboxIdentityVerifier }, onfido: { useClass: OnfidoVerifier } },
  },
  wallet: {
    what: 'wallets',
    setting: 'ONBOARDING_WALLETS',
    token: WALLET_PROVISIONER,
    by: { none, sandbox: { useClass: SandboxWallets }, xpub },
  },
  card: {
    what: 'cards',
    setting: 'ONBOARDING_CARDS',
    token: CARD_ISSUER,
    by: { none, sandbox: { useClass: SandboxCards }, stripe: { useClass: StripeCardIssuer } },
  },
} satisfies Readonly<Record<string, Port>>;
type PortName = keyof typeof PORTS;

export function createProviders(config: OnboardingConfig): Provider[] {
  const chosen = chooseProvider(config);
  const ports: [PortName, Port][] = Object.entries(PORTS) as [PortName, Port][];
  return [
    StripeCards,
    // The sandbox always has an inbox; messages of other providers are not in it.
    ...(config.mode === 'sandbox' ? [SandboxSms, { provide: SMS_INBOX, useExisting: SandboxSms }] : []),
    ...ports.map(([name, { token, by }]) => ({ provide: token, ...by[chosen[name]] }) as Provider),
    {
      provide: CALLBACK_READER,
      useValue: chosen.identity === 'onfido' ? new OnfidoCallbacks(config.onfidoWebhookToken!) : null,
    },
  ];
}

/** Reports missing providers at the boot, in metrics and in readiness. */
@Injectable()
export class ProviderReadiness implements OnModuleInit {
  private readonly logger = new Logger(ProviderReadiness.name);

  constructor(
    @Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig,
    private readonly health: HealthRegistry,
    private readonly facts: ProcessFacts,
  ) {}

  onModuleInit(): void {
    const chosen = Object.entries(chooseProvider(this.config)) as [PortName, string][];
    for (const [port, provider] of chosen) providers.set({ port, provider }, 1);
    const missing = chosen
      .filter(([, provider]) => provider === 'none')
      .map(([port]) => `${PORTS[port].what} (${PORTS[port].setting})`);
    const sentence =
      missing.length === 0 ? undefined : `no provider for ${missing.join(', ')}: onboardings wait`;
    // Programs of operators have no role and not all settings.
    if (sentence !== undefined && this.config.roles.length > 0) this.logger.warn(`onboarding: ${sentence}`);
    this.facts.register('providers', () =>
      chosen.map(([port, provider]) => ({
        name: `${port}:${provider}`,
        status: provider === 'none' ? 'missing' : isFailing(port) ? 'unavailable' : 'ok',
      })),
    );
    // Degraded: onboardings wait, and merchants are served.
    this.health.register({ name: 'onboarding', check: () => Promise.resolve(sentence) });
  }
}
