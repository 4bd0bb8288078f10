import { randomBytes } from 'node:crypto';
import { ProviderServer, Refusal, type ProviderCall, type Response } from '../../exchange/provider-server.js';

const STRIPE_ACCOUNT = {
  stripeSecretKey: 'rk_test_51DisburseIssuing',
  stripeIssuingCurrency: 'usd',
  stripeIssuingBillingAddress: {
    line1: '1 Main Street',
    city: 'Springfield',
    state: 'IL',
    postal_code: '62701',
    country: 'US',
  },
};
const VERSION = '2026-10-28.endive';
const DAY_MS = 86_400_000;

type Json = Record<string, unknown>;
interface Holder extends Json {
  id: string;
  created: number;
  status: string;
  metadata: Record<string, string>;
  requirements: { disabled_reason: string | null };
}
interface Card extends Json {
  id: string;
  created: number;
  status: string;
  cardholder: Holder;
}

interface Kept {
  readonly request: string;
  readonly at: number;
  readonly response: Response;
}

/** A local server of Stripe's API for issuing cards: cardholders and cards, with idempotency keys. */
export class StripeServer extends ProviderServer {
  readonly cardholders: Holder[] = [];
  readonly cards: Card[] = [];
  /** `requirements.disabled_reason` of new cardholders, by the last name. */
  readonly reasons = new Map<string, string>();
  /** The responses to the next cards, in place of a card. */
  cardFailures: Refused[] = [];
  private readonly keys = new Map<string, Kept>();

  static async start(): Promise<StripeServer> {
    const stripe = new StripeServer();
    await stripe.restart();
    return stripe;
  }

  get account() {
    return { ...STRIPE_ACCOUNT, stripeUrl: this.url };
  }

  get settings() {
    return {
      ONBOARDING_CARDS: 'stripe',
      STRIPE_SECRET_KEY: STRIPE_ACCOUNT.stripeSecretKey,
      STRIPE_ISSUING_CURRENCY: STRIPE_ACCOUNT.stripeIssuingCurrency,
      STRIPE_ISSUING_BILLING_ADDRESS: JSON.stringify(STRIPE_ACCOUNT.stripeIssuingBillingAddress),
      STRIPE_URL: this.url,
    };
  }

  cardsOf(userId: string): readonly Card[] {
    return this.cards.filter(({ metadata }) => (metadata as Form)['user_id'] === userId);
  }

  refuseCard(status: number, type: string, code: string): void {
    this.cardFailures.push(new Refused(status, 'The card was declined', { type, code }));
  }

  override recover(): void {
    super.recover();
    this.reasons.clear();
    this.cardFailures = [];
  }

  /** "We save results only after the execution of an endpoint begins": a failed validation is not kept. */
  protected override respondTo(call: ProviderCall): Response {
    requireAccount(call);
    const { method, path, query, headers, body } = call;
    const [, kind, id] = /^\/v1\/issuing\/(cardholders|cards)(?:\/(\w+))?$/.exec(path) ?? [];
    if (kind === undefined) throw new Refused(404, `Unrecognized request URL (${method}: ${path}).`);
    const key = headers['idempotency-key'];
    if (method !== 'POST') return [200, this.read(kind, id, query)];
    const request = `${path} ${body}`;
    const kept = typeof key === 'string' ? this.keys.get(key) : undefined;
    if (kept !== undefined && this.now() - kept.at < DAY_MS) {
      if (kept.request !== request)
        throw new Refused(
          400,
          'Keys for idempotent requests can only be used with the same parameters they were first used with.',
          { type: 'idempotency_error' },
        );
      return kept.response;
    }
    const form = formOf(body);
    if (kind === 'cardholders') checkPerson(form, id === undefined);
    let response: Response;
    try {
      response = [200, kind === 'cards' ? this.writeCard(id, form) : this.writeCardholder(id, form)];
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      response = [error.status, error.body];
    }
    if (typeof key === 'string') this.keys.set(key, { request, at: this.now(), response });
    return response;
  }

  private writeCardholder(id: string | undefined, form: Form): Json {
    if (id !== undefined) {
      const { metadata, ...fields } = form;
      const known = found(this.cardholders, id, 'cardholder');
      Object.assign(known.metadata, metadata);
      return Object.assign(known, fields);
    }
    const { name, type, billing, email, phone_number: phone, individual, status, metadata } = form;
    const person = individual as Form;
    const reason = this.reasons.get(String(person['last_name'])) ?? null;
    const holder: Holder = {
      id: `ich_${randomBytes(12).toString('hex')}`,
      object: 'issuing.cardholder',
      created: Math.floor(this.now() / 1000),
      name,
      type,
      billing,
      email: email ?? null,
      phone_number: phone,
      individual: person,
      metadata: metadata as Record<string, string>,
      requirements: { disabled_reason: reason },
      status: reason === 'rejected.listed' ? 'blocked' : (status as string),
    };
    this.cardholders.unshift(holder);
    return holder;
  }

  private writeCard(id: string | undefined, form: Form): Json {
    if (id !== undefined) {
      const known = found(this.cards, id, 'card');
      if (known.status === 'canceled') throw invalid('status', 'a canceled card cannot be changed');
      return Object.assign(known, { status: form['status'] });
    }
    const failure = this.cardFailures.shift();
    if (failure !== undefined) throw failure;
    const { cardholder, currency, type, status, metadata } = form;
    if (currency !== STRIPE_ACCOUNT.stripeIssuingCurrency)
      throw invalid('currency', 'is not one that the account issues cards in');
    const holder = found(this.cardholders, require(cardholder, 'cardholder'), 'cardholder');
    if (status === 'active' && holder.status !== 'active')
      throw invalid('status', 'the cardholder is not active');
    const card: Card = {
      id: `ic_${randomBytes(12).toString('hex')}`,
      object: 'issuing.card',
      created: Math.floor(this.now() / 1000),
      type,
      currency,
      status: status as string,
      metadata: metadata as Record<string, string>,
      cardholder: holder,
    };
    this.cards.unshift(card);
    return card;
  }

  private read(kind: string, id: string | undefined, query: URLSearchParams): Json {
    const all: readonly (Holder | Card)[] = kind === 'cards' ? this.cards : this.cardholders;
    if (id !== undefined) return found(all, id, kind.slice(0, -1));
    const filter = Object.fromEntries(query);
    const limit = Number(filter['limit']);
    const matching = all.filter((each) => matches(each, filter));
    const from = filter['starting_after'];
    const after = from === undefined ? 0 : matching.indexOf(found(all, from, kind.slice(0, -1))) + 1;
    const data = matching.slice(after, after + limit);
    return { object: 'list', url: `/v1/issuing/${kind}`, has_more: matching.length > after + limit, data };
  }
}

function matches(each: Holder | Card, filter: Record<string, string>): boolean {
  const { cardholder } = each as Partial<Card>;
  return (
    (filter['phone_number'] === undefined || each['phone_number'] === filter['phone_number']) &&
    (filter['cardholder'] === undefined || cardholder?.id === filter['cardholder']) &&
    each.created >= Number(filter['created[gte]'] ?? 0) &&
    each.created <= Number(filter['created[lte]'] ?? Infinity)
  );
}

function requireAccount({ headers }: ProviderCall): void {
  if (headers.authorization !== `Bearer ${STRIPE_ACCOUNT.stripeSecretKey}`)
    throw new Refused(401, 'Invalid API Key provided');
  if (headers['stripe-version'] !== VERSION) throw new Refused(400, 'Invalid Stripe API version');
}

function found<T extends { readonly id: string }>(
  all: readonly T[],
  id: string | undefined,
  what: string,
): T {
  const one = all.find((each) => each.id === id);
  if (one === undefined)
    throw new Refused(404, `No such issuing ${what}: '${id}'`, { code: 'resource_missing', param: what });
  return one;
}

/** A form of Stripe, such as `individual[dob][day]=1`, as an object; null for a list or another text. */
type Form = { [name: string]: string | Form };

function formOf(text: string): Form {
  const form: Form = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const [first, ...rest] = name.split(/[[\]]+/).filter((part) => part !== '');
    const path = [first ?? '', ...rest];
    let into = form;
    for (const part of path.slice(0, -1)) {
      into[part] ??= {};
      into = into[part] as Form;
    }
    into[path.at(-1)!] = value;
  }
  return form;
}

class Refused extends Refusal {
  constructor(
    status: number,
    message: string,
    fields: { readonly type?: string; readonly code?: string; readonly param?: string } = {},
  ) {
    super(status, { error: { type: 'invalid_request_error', message, ...fields } });
  }
}

function require(value: string | Form | undefined, param: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new Refused(400, `Missing required param: ${param}.`, { code: 'parameter_missing', param });
}

const invalid = (param: string, message: string): Refused =>
  new Refused(400, `Invalid ${param}: ${message}`, { code: 'parameter_invalid', param });

const NAME = /^[\p{Script=Latin} .,'-]+$/u;

/** Validates a cardholder by the descriptions of the parameters. */
function checkPerson(form: Form, isNew: boolean): void {
  const { name, email, phone_number: phone } = form;
  const individual = form['individual'] as Record<string, Form>;
  if (isNew) {
    const printed = require(name, 'name');
    if (printed.length > 24 || !NAME.test(printed))
      throw invalid('name', 'has at most 24 characters, and no numbers or special ones');
  }
  for (const each of ['first_name', 'last_name'])
    if (!NAME.test(String(individual[each])))
      throw invalid(`individual[${each}]`, 'contains numbers, special characters or non-Latin letters');
  const { day, month, year } = individual['dob'] as Record<string, string>;
  const born = Date.UTC(Number(year), Number(month) - 1, Number(day));
  if (Number.isNaN(born) || Date.now() - born < 13 * 365.25 * DAY_MS)
    throw invalid('individual[dob][year]', 'cardholders must be older than 13 years');
  if (!/^\+[1-9]\d{6,14}$/.test(phone as string))
    throw invalid('phone_number', 'is not a valid phone number');
  if (email !== undefined && !/^[^@\s]+@[^@\s]+\.[a-z]{2,}$/i.test(email as string))
    throw invalid('email', 'is not a valid email address');
}
