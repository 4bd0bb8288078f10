import type Stripe from 'stripe';
import { Injectable } from '@nestjs/common';
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import { Database } from '../../../platform/postgres/database.js';
import type { CardRequest } from '../providers/providers.ports.js';
import type { BillingAddress } from '../onboarding.config.js';
import en from '../words/en.json' with { type: 'json' };
import { requiredNames, unavailable, type ProviderClient } from '../providers/provider-client.adapter.js';

export function stripeFetch(client: ProviderClient): typeof fetch {
  return async (given, { method = 'GET', headers, body } = {}) => {
    const result = await client.relay(method, String(given), new Headers(headers), String(body));
    if (result.kind === 'failed') throw new Error(result.error);
    return new Response(result.body, { status: result.status });
  };
}

const MAX_ON_CARD = 24;

/** Returns the parameters of a cardholder. The `user_id` in its metadata identifies the person later. */
export function toCardholder(request: CardRequest, address: BillingAddress) {
  const { userId, details, phoneNumber, email } = request;
  const { first_name, last_name, date_of_birth } = details;
  const [year, month, day] = date_of_birth.split('-').map(Number) as [number, number, number];
  const name = last_name === null ? first_name : `${first_name} ${last_name}`;
  return {
    type: 'individual',
    name: name.slice(0, MAX_ON_CARD).trim(),
    phone_number: phoneNumber,
    ...(email === null ? {} : { email }),
    individual: { ...requiredNames(details), dob: { day, month, year } },
    billing: { address: { ...address } },
    status: 'active',
    metadata: { user_id: userId },
  };
}

/** The reasons by parameter, for personal data that Stripe rejects. */
const OF_THE_PERSON: readonly (readonly [RegExp, string])[] = [
  [/^(name|individual\[(first|last)_name\])/, en.reasonCardName],
  [/^individual\[dob\]/, en.reasonCardBirth],
  [/^phone_number/, en.reasonCardPhone],
  [/^email/, en.reasonCardEmail],
];

/** An error of the package. Its message may quote the request. */
type Thrown = Partial<Stripe.errors.StripeError>;

/** Returns true if a retry requires another idempotency key. */
export function endsKey(error: unknown): boolean {
  const { type, statusCode = 0 } = (error ?? {}) as Thrown;
  // Stripe has the key with other parameters, or stores the failure for a day.
  return type === 'StripeIdempotencyError' || statusCode >= 500 || statusCode === 402 || statusCode === 400;
}

/** Returns ProviderRefused for rejected personal data or a declined card, otherwise ProviderUnavailable. */
export function providerError(error: unknown): Error {
  if (error instanceof ProviderRefused || error instanceof ProviderUnavailable) return error;
  const { type, code, param, statusCode } = (error ?? {}) as Thrown;
  const short = (value: unknown): string =>
    typeof value === 'string' && /^[\w.[\]-]{1,80}$/.test(value) ? ` ${value}` : '';
  if (type === 'StripeConnectionError') return unavailable('Stripe', 'no response came');
  if (typeof statusCode !== 'number') return unavailable('Stripe', 'its response is malformed');
  const summary = `${statusCode}${short(type)}${short(code)}${short(param)}`;
  const cause = new Error(`Stripe responds with ${summary}`);
  if (type === 'StripeCardError') return new ProviderRefused(en.reasonCardDeclined, null, { cause });
  const [, reason] = OF_THE_PERSON.find(([form]) => typeof param === 'string' && form.test(param)) ?? [];
  if (type === 'StripeInvalidRequestError' && reason !== undefined)
    return new ProviderRefused(reason, null, { cause });
  return unavailable('Stripe', `it responds with ${summary}`);
}

export type Cardholder = Stripe.Issuing.Cardholder;
export type Card = Stripe.Issuing.Card;

export function byAge(a: Card | Cardholder, b: Card | Cardholder): number {
  return a.created - b.created || (a.id < b.id ? -1 : 1);
}

export function isOf(object: unknown, userId: string): boolean {
  return (object as Partial<Card> | null)?.metadata?.['user_id'] === userId;
}

export const cardholderIn = (userId: string) => (object: unknown) => {
  if (!isOf(object, userId)) throw unavailable('Stripe', 'the cardholder is of another person');
  return object as Cardholder;
};

export const cardIn = (userId: string, cardholder: string) => (object: unknown) => {
  const { type, cardholder: holder } = object as Partial<Card>;
  if (!isOf(object, userId) || holder?.id !== cardholder || type !== 'virtual')
    throw unavailable('Stripe', 'the card is of another person, or not virtual');
  return object as Card;
};

export interface StripeCardRow {
  readonly generation: number;
  readonly first_requested_at: Date;
  readonly last_requested_at: Date;
  readonly cardholder_id: string | null;
  readonly card_id: string | null;
  readonly forgotten_at: Date | null;
}

const COLUMNS = 'generation, first_requested_at, last_requested_at, cardholder_id, card_id, forgotten_at';

/** Stores each request before it is sent and the ids in its response, so that no object is lost. */
@Injectable()
export class StripeCards {
  constructor(private readonly database: Database) {}

  async begin(userId: string): Promise<StripeCardRow> {
    const [row] = await this.database.query<StripeCardRow & Record<string, unknown>>(
      `insert into onboarding.stripe_cards (user_id) values ($1)
       on conflict (user_id) do update set last_requested_at = now() returning ${COLUMNS}`,
      [userId],
    );
    return row!;
  }

  /** Stores the id unless the row already has an id. Returns the stored id, or null for an erased person. */
  async keep(column: 'cardholder_id' | 'card_id', userId: string, id: string): Promise<string | null> {
    const [row] = await this.database.query<{ id: string }>(
      `update onboarding.stripe_cards set ${column} = coalesce(${column}, $2)
       where user_id = $1 and forgotten_at is null returning ${column} as id`,
      [userId, id],
    );
    return row?.id ?? null;
  }

  async isForgotten(userId: string): Promise<boolean> {
    const forgotten = await this.database.query(
      'select from onboarding.stripe_cards where user_id = $1 and forgotten_at is not null',
      [userId],
    );
    return forgotten.length > 0;
  }

  /** Changes the idempotency keys after Stripe has stored a failure under them. Idempotent. */
  async nextGeneration(userId: string, generation: number): Promise<void> {
    await this.database.query(
      `update onboarding.stripe_cards set generation = generation + 1 where user_id = $1 and generation = $2`,
      [userId, generation],
    );
  }

  /** Blocks further cards and returns the row, or null for a user without earlier requests. */
  async forgotten(userId: string): Promise<StripeCardRow | null> {
    const [row] = await this.database.query<StripeCardRow & { is_new: boolean } & Record<string, unknown>>(
      `insert into onboarding.stripe_cards (user_id, forgotten_at) values ($1, now())
       on conflict (user_id) do update set forgotten_at = coalesce(stripe_cards.forgotten_at, now())
       returning ${COLUMNS}, xmax = 0 as is_new`,
      [userId],
    );
    return row!.is_new ? null : row!;
  }
}
