import {
  ConfigError,
  anInteger,
  anyOf,
  optional,
  pattern,
  setting,
  url,
  anyText,
  defineConfig,
} from '../../platform/config/settings.js';

const NOT_SET = 'Not set: in the sandbox its own, in production none.';

export const onboardingConfig = defineConfig('onboarding', {
  onboardingTermsUrl: optional(
    url('https', 'http'),
    'the address of the terms that people agree to; the sandbox has its own page.',
  ),
  onboardingTermsVersion: optional(
    anyText,
    'the version of these terms; the event of their consent contains it.',
  ),
  onboardingPrivacyUrl: optional(
    url('https', 'http'),
    'the address of the privacy notice that people agree to; the sandbox has its own page.',
  ),
  onboardingPrivacyVersion: optional(
    anyText,
    'the version of this notice; the event of their consent contains it.',
  ),
  onboardingMinimumAge: setting(anInteger(0, 120), 18, 'years that a person must have to be onboarded.'),
  onboardingCodesPerAddress: setting(
    anInteger(1, 1_000_000),
    200,
    'messages with a code that one address may request within 24 hours, for all users together.',
  ),
  onboardingGiveUpSeconds: setting(
    anInteger(1, 2_592_000),
    86_400,
    'how long an identity or card provider without a response is retried before the step has failed.',
  ),
  onboardingImageDays: setting(
    anInteger(1, 90),
    7,
    'days after which images that were never handed to the identity provider are deleted.',
  ),
  identityCallbackMaxAgeSeconds: setting(
    anInteger(60, 2_592_000),
    86_400,
    'how old a callback of the identity provider may be; older ones are refused. Longer than the provider repeats them.',
  ),
  sandboxReviewSeconds: optional(
    anInteger(0, 31_536_000),
    'how long the sandbox keeps an identity with the last name Review under review before it passes automatically; without it, until an operator decides.',
  ),
  onboardingSms: optional(
    anyOf('twilio', 'none'),
    `who sends the one-time codes of the onboarding. ${NOT_SET}`,
  ),
  twilioAccountSid: optional(
    pattern(/^AC[0-9a-f]{32}$/, 'the SID of a Twilio account: AC and 32 hexadecimal digits'),
    'the Twilio account that messages are sent from.',
  ),
  twilioAuthToken: optional(
    pattern(/^[!-~]{16,200}$/, 'the auth token of the Twilio account, without spaces'),
    'the auth token of that account.',
    'secret',
  ),
  twilioFrom: optional(
    pattern(
      /^(\+[1-9][0-9]{6,14}|[0-9]{3,8}|(?=.*[A-Za-z])[A-Za-z0-9 ]{1,11})$/,
      'a phone number such as +15550001111, a short code or an alphanumeric sender',
    ),
    'who the messages are from; this or TWILIO_MESSAGING_SERVICE_SID.',
  ),
  twilioMessagingServiceSid: optional(
    pattern(/^MG[0-9a-f]{32}$/, 'the SID of a messaging service: MG and 32 hexadecimal digits'),
    'the messaging service of Twilio that chooses who the messages are from.',
  ),
  twilioUrl: setting(
    url('http', 'https'),
    'https://api.twilio.com',
    'where Twilio has its API: for another region its host there. HTTPS in production.',
  ),
  onboardingIdentity: optional(anyOf('onfido', 'none'), `who verifies identities. ${NOT_SET}`),
  onfidoApiToken: optional(
    pattern(/^[!-~]{16,200}$/, 'an API token of Onfido, without spaces'),
    'the token of the Onfido account.',
    'secret',
  ),
  onfidoWebhookToken: optional(
    pattern(/^[!-~]{16,200}$/, 'the token of a webhook of Onfido, without spaces'),
    'the token that Onfido signs its webhook with; the webhook leads to {WIDGET_URL}/callbacks/identity/onfido.',
    'secret',
  ),
  onfidoUrl: setting(
    url('http', 'https'),
    'https://api.eu.onfido.com/v3.6',
    'where Onfido has its API: api.us or api.ca for other regions. HTTPS in production.',
  ),
  onboardingCards: optional(anyOf('stripe', 'none'), `who issues the cards. ${NOT_SET}`),
  stripeSecretKey: optional(
    pattern(/^[sr]k_(test|live)_[A-Za-z0-9_]{8,240}$/, 'a secret or restricted key of Stripe (sk_ or rk_)'),
    'the key of the Stripe account; a restricted one that may write cardholders and cards of Issuing is enough.',
    'secret',
  ),
  stripeIssuingCurrency: optional(
    pattern(/^[a-z]{3}$/, 'a currency in three small letters, such as usd'),
    'the currency of the cards.',
  ),
  stripeIssuingBillingAddress: optional(
    billingAddress,
    'the billing address of every card, as JSON: line1, city, postal_code, country, and line2 and state where there are any (docs/onboarding.md).',
  ),
  stripeUrl: setting(
    url('http', 'https'),
    'https://api.stripe.com',
    'where Stripe has its API. HTTPS in production.',
  ),
  onboardingWallets: optional(
    anyOf('xpub', 'none'),
    `where the wallets of users come from: the children of ONBOARDING_WALLET_XPUB. ${NOT_SET}`,
  ),
  onboardingWalletXpub: optional(
    extendedPublicKey,
    'the extended public key (BIP 32) whose children 0/0, 0/1 and so on are the wallets of users. With it and one private key of a child all other private keys can be computed: treat it as a secret.',
    'secret',
  ),
  onboardingWalletFirstIndex: setting(
    anInteger(0, 2 ** 31 - 1),
    0,
    'the first index of wallets from here on, when those before are in use elsewhere: after an older database was restored.',
  ),
});

export type OnboardingConfig = ReturnType<typeof onboardingConfig>;

/** The setting that selects the provider of each port, and the settings that this provider requires. */
export const PORTS = {
  sms: {
    what: 'codes by SMS',
    setting: 'onboardingSms',
    needs: ['twilioAccountSid', 'twilioAuthToken'],
    api: 'twilioUrl',
  },
  identity: {
    what: 'identity verification',
    setting: 'onboardingIdentity',
    needs: ['onfidoApiToken', 'onfidoWebhookToken'],
    api: 'onfidoUrl',
  },
  wallet: { what: 'wallets', setting: 'onboardingWallets', needs: ['onboardingWalletXpub'], api: null },
  card: {
    what: 'cards',
    setting: 'onboardingCards',
    needs: ['stripeSecretKey', 'stripeIssuingCurrency', 'stripeIssuingBillingAddress'],
    api: 'stripeUrl',
  },
} as const;
export type Port = keyof typeof PORTS;

export function checkProviderSettings(config: OnboardingConfig): void {
  const { settings } = onboardingConfig;
  for (const { setting: port, needs, api } of Object.values(PORTS)) {
    const provider = config[port] ?? 'none';
    if (provider === 'none') continue;
    const missing = needs.find((key) => config[key] === null);
    if (missing !== undefined) {
      const { name, help } = settings[missing];
      throw new ConfigError(
        `${name} must be set where ${settings[port].name} is ${provider}. ${name}: ${help}`,
      );
    }
    // These requests contain credentials and personal data.
    if (api !== null && config.mode === 'production' && !config[api].startsWith('https://'))
      throw new ConfigError(`${settings[api].name} must begin with https:// in production.`);
  }
  const { onboardingSms, twilioFrom, twilioMessagingServiceSid } = config;
  if (onboardingSms === 'twilio' && (twilioFrom === null) === (twilioMessagingServiceSid === null))
    throw new ConfigError(
      'One of TWILIO_FROM and TWILIO_MESSAGING_SERVICE_SID must be set where ONBOARDING_SMS is twilio, and not both.',
    );
}

/** Returns the provider of each port. The default is `sandbox` in the sandbox and `none` in production. */
export function chooseProvider(config: OnboardingConfig): Readonly<Record<Port, string>> {
  const otherwise = config.mode === 'sandbox' ? 'sandbox' : 'none';
  const chosen = Object.entries(PORTS).map(([port, { setting }]) => [port, config[setting] ?? otherwise]);
  return Object.fromEntries(chosen) as Record<Port, string>;
}

function extendedPublicKey(text: string): string {
  if (/^[xtyzuv]prv/i.test(text))
    throw new Error(
      'an extended public key, which begins with xpub. This one is private: it can spend from every wallet, and must not be on this server. Set the public key of the same account, and delete the private one from its source',
    );
  if (!/^xpub[1-9A-HJ-NP-Za-km-z]{107}$/.test(text))
    throw new Error('an extended public key (BIP 32) that begins with xpub');
  return text;
}

const REQUIRED = ['line1', 'city', 'postal_code', 'country'] as const;
const OPTIONAL = ['line2', 'state'] as const;
/** The billing address of cards. `country` is ISO 3166-1 alpha-2. */
export type BillingAddress = Readonly<
  Record<(typeof REQUIRED)[number], string> & Partial<Record<(typeof OPTIONAL)[number], string>>
>;
const FORM =
  'a JSON object such as {"line1": "1 Main Street", "city": "Springfield", "postal_code": "12345", "country": "US"}';

function billingAddress(text: string): BillingAddress {
  let fields: [string, unknown][];
  try {
    fields = Object.entries(JSON.parse(text) as object);
  } catch (error) {
    throw new Error(FORM, { cause: error });
  }
  const known: readonly string[] = [...REQUIRED, ...OPTIONAL];
  const isKnown = fields.every(
    ([name, each]) => known.includes(name) && typeof each === 'string' && each.trim() !== '',
  );
  const address = Object.fromEntries(fields) as unknown as BillingAddress;
  const isWhole = REQUIRED.every((name) => name in address) && /^[A-Z]{2}$/.test(address.country);
  if (!isKnown || !isWhole) throw new Error(FORM);
  return address;
}
