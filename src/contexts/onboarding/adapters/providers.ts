import type { Provider } from '@nestjs/common';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { KeyRing } from '../../../platform/sealing/key-ring.js';
import { CALLBACK_READER } from '../application/callback-reader.js';
import {
  CARD_ISSUER,
  IDENTITY_VERIFIER,
  SMS_INBOX,
  SMS_SENDER,
  WALLET_PROVISIONER,
} from '../application/ports.js';
import { SandboxReviews } from '../store/sandbox-reviews.js';
import { StripeCards } from '../store/stripe-cards.js';
import { Verifications } from '../store/verifications.js';
import { WalletIndexes } from '../store/wallet-indexes.js';
import { AbsentCards, AbsentIdentity, AbsentProviders } from './absent-providers.js';
import { OnfidoCallbacks } from './onfido/onfido-callbacks.js';
import { OnfidoVerifier } from './onfido/onfido-verifier.js';
import { SandboxCallbacks } from './sandbox-callbacks.js';
import { SandboxCards, SandboxIdentityVerifier, SandboxSms, SandboxWallets } from './sandbox-providers.js';
import { StripeCardIssuer } from './stripe/stripe-card-issuer.js';
import { TwilioSms } from './twilio/twilio-sms.js';
import { XpubWallets } from './xpub/xpub-wallets.js';

/** The ports, each with the setting that names who does it. */
export const PORTS = {
  sms: { what: 'codes by SMS', setting: 'ONBOARDING_SMS' },
  identity: { what: 'identity verification', setting: 'ONBOARDING_IDENTITY' },
  wallet: { what: 'wallets', setting: 'ONBOARDING_WALLETS' },
  card: { what: 'cards', setting: 'ONBOARDING_CARDS' },
} as const;
export type Port = keyof typeof PORTS;

/** Who does what, by port: the name of a provider, `sandbox` or `none`. */
export type Chosen = Readonly<Record<Port, string>>;

/** A setting names the provider; where it is not set the sandbox has its own and production has none. */
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

/** What stands behind the ports. */
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
  // The sandbox has an inbox always; what others send does not come there.
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
          ...{ twilioAccountSid: twilioAccountSid!, twilioAuthToken: twilioAuthToken! },
          ...{ twilioFrom, twilioMessagingServiceSid, twilioUrl },
        });
      },
    },
  ];
}

/** With whoever reads its callbacks: in the sandbox its own, which decides reviews. */
function identityOf(name: string): Provider[] {
  if (name === 'sandbox')
    return [
      { provide: CALLBACK_READER, useExisting: SandboxCallbacks },
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
