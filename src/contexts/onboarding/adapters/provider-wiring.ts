import { Inject, Injectable, Logger, type Provider, type OnModuleInit } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { KeyRing } from '../../../platform/sealing/key-ring.js';
import { HealthRegistry } from '../../../platform/telemetry/health.js';
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
import { SandboxReviews, Verifications } from '../store/verifications.js';
import { StripeCards } from '../store/stripe-cards.js';
import { WalletIndexes } from '../store/wallet-indexes.js';
import { providers } from '../metrics.js';
import { OnfidoCallbacks } from './onfido/onfido-callbacks.js';
import { OnfidoVerifier } from './onfido/onfido-verifier.js';
import {
  SandboxCallbacks,
  SandboxCards,
  SandboxIdentityVerifier,
  SandboxSms,
  SandboxWallets,
} from './sandbox-providers.js';
import { StripeCardIssuer } from './stripe/stripe-card-issuer.js';
import { TwilioSms } from './twilio-sms.js';
import { XpubWallets } from './xpub-wallets.js';

/** In place of providers that are not configured: onboardings wait, and nothing is lost. */
class AbsentProviders implements SmsSender, WalletProvisioner {
  send(): Promise<never> {
    return absent('SMS');
  }

  provision(): Promise<never> {
    return absent('wallet');
  }

  async replace(): Promise<void> {}
}

class AbsentIdentity implements IdentityVerifier {
  readonly provider = 'none';

  decide(): Promise<never> {
    return absent('identity verification');
  }

  async forget(): Promise<void> {}
}

class AbsentCards implements CardIssuer {
  issue(): Promise<never> {
    return absent('card');
  }

  async forget(): Promise<void> {}
}

function absent(provider: string): Promise<never> {
  return Promise.reject(new DomainError('unavailable', `No ${provider} provider is configured`));
}

/** The ports, each with the setting that names who does it. */
const PORTS = {
  sms: { what: 'codes by SMS', setting: 'ONBOARDING_SMS' },
  identity: { what: 'identity verification', setting: 'ONBOARDING_IDENTITY' },
  wallet: { what: 'wallets', setting: 'ONBOARDING_WALLETS' },
  card: { what: 'cards', setting: 'ONBOARDING_CARDS' },
} as const;
type Port = keyof typeof PORTS;

/** By port: the name of a provider, `sandbox` or `none`. */
type Chosen = Readonly<Record<Port, string>>;

/** Without a setting the sandbox has its own provider and production has none. */
export function chosenOf(
  config: Pick<
    Config,
    'mode' | 'onboardingSms' | 'onboardingIdentity' | 'onboardingCards' | 'onboardingWallets'
  >,
): Chosen {
  const otherwise = config.mode === 'sandbox' ? 'sandbox' : 'none';
  return {
    sms: config.onboardingSms ?? otherwise,
    identity: config.onboardingIdentity ?? otherwise,
    wallet: config.onboardingWallets ?? otherwise,
    card: config.onboardingCards ?? otherwise,
  };
}

export function providersOf(chosen: Chosen, isSandbox: boolean): Provider[] {
  return [
    WalletIndexes,
    StripeCards,
    ...smsOf(chosen.sms, isSandbox),
    ...identityOf(chosen.identity),
    walletsOf(chosen.wallet),
    cardsOf(chosen.card),
  ];
}

function smsOf(name: string, isSandbox: boolean): Provider[] {
  // The sandbox always has an inbox; messages of other providers are not in it.
  const inbox = isSandbox ? [SandboxSms, { provide: SMS_INBOX, useExisting: SandboxSms }] : [];
  if (name === 'sandbox') return [...inbox, { provide: SMS_SENDER, useExisting: SandboxSms }];
  if (name === 'none') return [...inbox, { provide: SMS_SENDER, useClass: AbsentProviders }];
  return [
    ...inbox,
    {
      provide: SMS_SENDER,
      inject: [CONFIG],
      useFactory: (config: Config) => {
        const { twilioFrom, twilioMessagingServiceSid, twilioUrl } = config;
        const { twilioAccountSid, twilioAuthToken } = config;
        return new TwilioSms({
          twilioAccountSid: twilioAccountSid!,
          twilioAuthToken: twilioAuthToken!,
          twilioFrom,
          twilioMessagingServiceSid,
          twilioUrl,
        });
      },
    },
  ];
}

/** With the reader of its callbacks. */
function identityOf(name: string): Provider[] {
  if (name === 'sandbox')
    return [
      {
        provide: CALLBACK_READER,
        inject: [KeyRing],
        useFactory: ({ root }: KeyRing) => new SandboxCallbacks(root),
      },
      {
        provide: IDENTITY_VERIFIER,
        inject: [SandboxReviews, Verifications, CONFIG],
        useFactory: (
          reviews: SandboxReviews,
          verifications: Verifications,
          { sandboxReviewSeconds }: Config,
        ) => new SandboxIdentityVerifier(reviews, verifications, sandboxReviewSeconds),
      },
    ];
  if (name === 'none')
    return [
      { provide: CALLBACK_READER, useValue: null },
      { provide: IDENTITY_VERIFIER, useClass: AbsentIdentity },
    ];
  return [
    {
      provide: CALLBACK_READER,
      inject: [CONFIG],
      useFactory: ({ onfidoWebhookToken }: Config) => new OnfidoCallbacks(onfidoWebhookToken!),
    },
    {
      provide: IDENTITY_VERIFIER,
      inject: [CONFIG, Verifications],
      useFactory: ({ onfidoUrl, onfidoApiToken }: Config, verifications: Verifications) =>
        new OnfidoVerifier({ onfidoUrl, onfidoApiToken: onfidoApiToken! }, verifications),
    },
  ];
}

function walletsOf(name: string): Provider {
  if (name === 'sandbox')
    return {
      provide: WALLET_PROVISIONER,
      inject: [KeyRing],
      useFactory: ({ root }: KeyRing) => new SandboxWallets(root),
    };
  if (name === 'none') return { provide: WALLET_PROVISIONER, useClass: AbsentProviders };
  return {
    provide: WALLET_PROVISIONER,
    inject: [CONFIG, WalletIndexes],
    useFactory: ({ walletXpub, walletFirstIndex }: Config, indexes: WalletIndexes) =>
      XpubWallets.open(walletXpub!, walletFirstIndex, indexes),
  };
}

function cardsOf(name: string): Provider {
  if (name === 'sandbox') return { provide: CARD_ISSUER, useClass: SandboxCards };
  if (name === 'none') return { provide: CARD_ISSUER, useClass: AbsentCards };
  return {
    provide: CARD_ISSUER,
    inject: [CONFIG, StripeCards],
    useFactory: (config: Config, cards: StripeCards) => {
      const { stripeSecretKey, stripeIssuingCurrency, stripeIssuingAddress, stripeUrl } = config;
      return new StripeCardIssuer(
        {
          stripeSecretKey: stripeSecretKey!,
          stripeIssuingCurrency: stripeIssuingCurrency!,
          stripeIssuingAddress: stripeIssuingAddress!,
          stripeUrl,
        },
        cards,
      );
    },
  };
}

/** Reports missing providers at the boot, in metrics and in readiness. */
@Injectable()
export class ProviderReadiness implements OnModuleInit {
  private readonly logger = new Logger(ProviderReadiness.name);

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(HealthRegistry) private readonly health: HealthRegistry,
  ) {}

  onModuleInit(): void {
    const chosen = Object.entries(chosenOf(this.config)) as [Port, string][];
    for (const [port, provider] of chosen) providers.set({ port, provider }, 1);
    const missing = chosen
      .filter(([, provider]) => provider === 'none')
      .map(([port]) => `${PORTS[port].what} (${PORTS[port].setting})`);
    const sentence =
      missing.length === 0 ? undefined : `no provider for ${missing.join(', ')}: onboardings wait`;
    // Programs of operators have no role and not all settings.
    if (sentence !== undefined && this.config.roles.length > 0) this.logger.warn(`onboarding: ${sentence}`);
    // Degraded: onboardings wait, and merchants are served.
    this.health.register({ name: 'onboarding', check: () => Promise.resolve(sentence) });
  }
}
