import { ProviderRefusal } from '../../application/ports.js';
import { unavailable } from '../provider-client.js';

/** Why there is no card, for the person. Each has words in every language of the page: words/reasons.ts. */
export const CARD_REASONS = {
  declined: 'The card issuer declined the card',
  name: 'The card issuer does not accept your name',
  birth: 'The card issuer does not accept your date of birth',
  phone: 'The card issuer does not accept your phone number',
  email: 'The card issuer does not accept your email address',
  refused: 'The card issuer does not issue a card to you',
  more: 'The card issuer wants to know more about you',
  closed: 'The account is closed',
} as const;

/** What of a person Stripe may refuse, by the beginning of the parameter's name. */
const OF_THE_PERSON: readonly (readonly [RegExp, keyof typeof CARD_REASONS])[] = [
  [/^(name|individual\[(first|last)_name\])/, 'name'],
  [/^individual\[dob\]/, 'birth'],
  [/^phone_number/, 'phone'],
  [/^email/, 'email'],
];

/** What Stripe's package throws, as far as it is read: the message may quote what was sent. */
interface Thrown {
  readonly type?: unknown;
  readonly code?: unknown;
  readonly param?: unknown;
  readonly statusCode?: unknown;
}

/** The same key was used with other parameters. */
export function isOtherRequest(error: unknown): boolean {
  return (error as Thrown | null)?.type === 'StripeIdempotencyError';
}

/** Stripe keeps the failure with the idempotency key, and would give it again for a day. */
export function isKept(error: unknown): boolean {
  const { statusCode } = (error ?? {}) as Thrown;
  return typeof statusCode === 'number' && (statusCode >= 500 || statusCode === 402 || statusCode === 400);
}

/** {@link ProviderRefusal} for what is about the person, otherwise ProviderUnavailable. */
export function toldBy(error: unknown): Error {
  const { type, code, param, statusCode } = (error ?? {}) as Thrown;
  const short = (value: unknown): string =>
    typeof value === 'string' && /^[\w.[\]-]{1,80}$/.test(value) ? ` ${value}` : '';
  if (type === 'StripeConnectionError') return unavailable('Stripe', 'no response came');
  if (typeof statusCode !== 'number') return unavailable('Stripe', 'its response makes no sense');
  const told = `${statusCode}${short(type)}${short(code)}${short(param)}`;
  const cause = new Error(`Stripe responds with ${told}`);
  if (type === 'StripeCardError') return new ProviderRefusal(CARD_REASONS.declined, { cause });
  const [, what] = OF_THE_PERSON.find(([form]) => typeof param === 'string' && form.test(param)) ?? [];
  if (type === 'StripeInvalidRequestError' && what !== undefined)
    return new ProviderRefusal(CARD_REASONS[what], { cause });
  return unavailable('Stripe', `it responds with ${told}`);
}
