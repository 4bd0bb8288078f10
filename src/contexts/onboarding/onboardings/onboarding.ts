import type { DomainEvent, Aggregate } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';

interface Common {
  user_id: string;
  merchant_id: string;
  at: string;
}

interface Decided extends Common {
  verification_id: string;
  provider: string;
}

interface OnboardingEventData {
  'onboarding.started.v1': Common;
  'onboarding.phone_verified.v1': Common;
  'onboarding.consent_given.v1': Common & Consent;
  /** The details are sealed with the person's key. */
  'onboarding.details_confirmed.v1': Common & Details;
  'onboarding.kyc_submitted.v1': Omit<Decided, 'provider'>;
  'onboarding.kyc_passed.v1': Decided;
  'onboarding.kyc_failed.v1': Decided & { reason: string };
  /** The `derivation` is set for a wallet derived from an extended public key. */
  'onboarding.wallet_provisioned.v1': Common & {
    issuer_wallet_address: string;
    derivation?: WalletDerivation;
  };
  'onboarding.card_issued.v1': Common & { card_id: string };
  'onboarding.card_failed.v1': Common & { reason: string };
  'onboarding.card_retried.v1': Common;
  'onboarding.completed.v1': Common & { issuer_wallet_address: string };
}
type Type = keyof OnboardingEventData;
export type OnboardingEventOf<Name extends Type> = DomainEvent<Name, OnboardingEventData[Name]>;
export type OnboardingEvent = { [Name in Type]: OnboardingEventOf<Name> }[Type];

export interface WalletDerivation {
  /** The fingerprint of the extended public key: eight hexadecimal digits. */
  readonly key: string;
  readonly path: string;
  readonly index: number;
}

/** The stages in order. A failed stage precedes the stage that a retry has to reach. */
const STAGES = [
  'not_started',
  'started',
  'phone_verified',
  'details_confirmed',
  'kyc_failed',
  'kyc_submitted',
  'kyc_passed',
  'wallet_provisioned',
  'card_failed',
  'card_issued',
  'completed',
] as const;
export type Stage = (typeof STAGES)[number];

export function reached(state: Onboarding, stage: Stage): boolean {
  return STAGES.indexOf(state.stage) >= STAGES.indexOf(stage);
}

/** The stages after which the service performs the next step. */
export const AUTOMATIC: readonly Stage[] = [
  'kyc_submitted',
  'kyc_passed',
  'wallet_provisioned',
  'card_issued',
];

/** The stage after each event. Null leaves the stage unchanged. */
export const STAGE_AFTER = {
  'onboarding.started.v1': 'started',
  'onboarding.phone_verified.v1': 'phone_verified',
  'onboarding.consent_given.v1': null,
  'onboarding.details_confirmed.v1': 'details_confirmed',
  'onboarding.kyc_submitted.v1': 'kyc_submitted',
  'onboarding.kyc_passed.v1': 'kyc_passed',
  'onboarding.kyc_failed.v1': 'kyc_failed',
  'onboarding.wallet_provisioned.v1': 'wallet_provisioned',
  'onboarding.card_issued.v1': 'card_issued',
  'onboarding.card_failed.v1': 'card_failed',
  'onboarding.card_retried.v1': 'wallet_provisioned',
  'onboarding.completed.v1': 'completed',
} as const satisfies Readonly<Record<Type, Stage | null>>;

/** The details of a person. `last_name` is null for a single name. `date_of_birth` is `YYYY-MM-DD`. */
export interface Details {
  readonly first_name: string;
  readonly last_name: string | null;
  readonly date_of_birth: string;
}

export interface Consent {
  readonly terms_version: string;
  readonly privacy_version: string;
}

export interface Applicant {
  readonly user_id: string;
  readonly merchant_id: string;
  readonly tries: Tries;
  readonly consent: Consent | null;
}
export interface Submitted extends Applicant {
  readonly details: Details;
  readonly verification_id: string;
  readonly submitted_at: string;
}
export interface WithWallet extends Submitted {
  readonly issuer_wallet_address: string;
  readonly card_attempt: number;
}

export type Onboarding =
  | { readonly stage: 'not_started' }
  | ({ readonly stage: 'started' | 'phone_verified' } & Applicant)
  | ({ readonly stage: 'details_confirmed'; readonly details: Details } & Applicant)
  | ({ readonly stage: 'kyc_submitted' | 'kyc_passed' } & Submitted)
  | ({ readonly stage: 'kyc_failed'; readonly reason: string } & Submitted)
  | ({ readonly stage: 'wallet_provisioned' | 'card_issued' | 'completed' } & WithWallet)
  | ({ readonly stage: 'card_failed'; readonly reason: string } & WithWallet);

/** The minimum time between codes for a user from one address, unless the earlier code is used up. */
export const CODE_EVERY_SECONDS = 30;

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/** The quotas of steps that cost money. */
const COSTLY = [
  { times: 3, within: 'an hour', seconds: HOUR_SECONDS },
  { times: 10, within: 'a day', seconds: DAY_SECONDS },
];
const QUOTAS = {
  details: {
    what: 'Your details were changed',
    quotas: [{ times: 20, within: 'a day', seconds: DAY_SECONDS }],
  },
  checks: { what: 'Your identity was checked', quotas: COSTLY },
  cards: { what: 'Your card was requested again', quotas: COSTLY },
} satisfies Record<keyof Tries, object>;

/** The times (ISO 8601) of limited steps in the last day, oldest first. */
export interface Tries {
  readonly details: readonly string[];
  readonly checks: readonly string[];
  readonly cards: readonly string[];
}

export const NO_TRIES: Tries = { details: [], checks: [], cards: [] };

export function withTry(tries: Tries, step: keyof Tries, at: string): Tries {
  const recent = tries[step].filter((each) => secondsBetween(each, at) < DAY_SECONDS);
  return { ...tries, [step]: [...recent, at] };
}

export function requireQuota(step: keyof Tries, all: Tries, at: string): void {
  const { what, quotas } = QUOTAS[step];
  const tries = all[step];
  for (const { times, within, seconds } of quotas) {
    const oldest = tries.at(-times);
    const waitSeconds = oldest === undefined ? 0 : Math.ceil(seconds - secondsBetween(oldest, at));
    if (waitSeconds <= 0) continue;
    throw new DomainError('rate_limited', `${what} ${times} times within ${within}`, {}, waitSeconds);
  }
}

function secondsBetween(earlier: string, later: string): number {
  return (Date.parse(later) - Date.parse(earlier)) / 1000;
}

export const onboarding: Aggregate<Onboarding, OnboardingEvent> = {
  category: 'onboarding',
  initial: { stage: 'not_started' },
  snapshots: {
    version: 5,
    events: Object.keys(STAGE_AFTER) as Type[],
    pack: (state) => state,
    unpack: (packed) => packed as Onboarding,
    subject: (state) => ('user_id' in state ? state.user_id : null),
  },
  evolve(state, event) {
    if (!(event.type in STAGE_AFTER)) return state;
    const { user_id, merchant_id } = event.data;
    const stage = STAGE_AFTER[event.type] ?? state.stage;
    const person = { user_id, merchant_id, tries: NO_TRIES, consent: null };
    return { ...person, ...state, ...toChange(event, state), stage } as Onboarding;
  },
};

/** Returns the members that the event sets. Members of a failed attempt remain until the next attempt. */
function toChange(event: OnboardingEvent, state: Onboarding): Partial<WithWallet & { reason: string }> {
  const { at } = event.data;
  const tries = 'tries' in state ? state.tries : NO_TRIES;
  switch (event.type) {
    case 'onboarding.consent_given.v1': {
      const { terms_version, privacy_version } = event.data;
      return { consent: { terms_version, privacy_version } };
    }
    case 'onboarding.details_confirmed.v1': {
      const { first_name, last_name, date_of_birth } = event.data;
      return { details: { first_name, last_name, date_of_birth }, tries: withTry(tries, 'details', at) };
    }
    case 'onboarding.kyc_submitted.v1': {
      const { verification_id } = event.data;
      return { verification_id, submitted_at: at, tries: withTry(tries, 'checks', at) };
    }
    case 'onboarding.kyc_failed.v1':
    case 'onboarding.card_failed.v1':
      return { reason: event.data.reason };
    case 'onboarding.wallet_provisioned.v1':
      return { issuer_wallet_address: event.data.issuer_wallet_address, card_attempt: 1 };
    case 'onboarding.card_retried.v1': {
      const attempts = 'card_attempt' in state ? state.card_attempt : 0;
      return { card_attempt: attempts + 1, tries: withTry(tries, 'cards', at) };
    }
    default:
      return {};
  }
}
