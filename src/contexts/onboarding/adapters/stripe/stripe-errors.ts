import { ProviderRefusal } from '../../application/ports.js';
import { unavailable } from '../provider-client.js';

/** What of a person Stripe may refuse, by the beginning of the parameter's name. */
const OF_THE_PERSON: readonly (readonly [RegExp, string])[] = [
  [/^(name|individual\[(first|last)_name\])/, 'your name'],
  [/^individual\[dob\]/, 'your date of birth'],
  [/^phone_number/, 'your phone number'],
  [/^email/, 'your email address'],
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
  if (type === 'StripeCardError') return new ProviderRefusal('The card issuer declined the card', { cause });
  const [, what] = OF_THE_PERSON.find(([form]) => typeof param === 'string' && form.test(param)) ?? [];
  if (type === 'StripeInvalidRequestError' && what !== undefined)
    return new ProviderRefusal(`The card issuer does not accept ${what}`, { cause });
  return unavailable('Stripe', `it responds with ${told}`);
}
