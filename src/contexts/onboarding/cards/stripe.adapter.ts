import { Inject, Injectable, Optional, type OnApplicationShutdown } from '@nestjs/common';
import type Stripe from 'stripe';
import { deriveId } from '../../../kernel/ids.js';
import { failpoint } from '../../../platform/failpoints.js';
import { ProviderRefused } from '../../../platform/outbound/provider-errors.js';
import type { CardIssuer, CardRequest } from '../providers/providers.ports.js';
import { onboardingConfig, type BillingAddress } from '../onboarding.config.js';
import en from '../words/en.json' with { type: 'json' };
import { ProviderClient, unavailable } from '../providers/provider-client.adapter.js';
import {
  toCardholder,
  endsKey,
  providerError,
  byAge,
  cardholderIn,
  cardIn,
  isOf,
  StripeCards,
  stripeFetch,
  type StripeCardRow,
  type Card,
  type Cardholder,
} from './stripe-api.adapter.js';

type StripeAccount = Readonly<
  Record<'stripeSecretKey' | 'stripeUrl' | 'stripeIssuingCurrency', string> &
    Record<'stripeIssuingBillingAddress', BillingAddress>
>;

const STRIPE_VERSION = '2026-10-28.endive';
/** The maximum number of cards that the package lists in memory. */
const MAX_CARDS = 10_000;
const CLOCK_TOLERANCE_SECONDS = 3600;
/** The replacement for personal data: a reserved domain and a fictitious number. */
const ERASED_PERSON = {
  email: 'erased@example.com',
  phone_number: '+12025550100',
  individual: { first_name: 'Erased', last_name: 'Person', dob: { day: 1, month: 1, year: 1970 } },
};

/** Issues virtual cards through Stripe Issuing (ADR 124), one cardholder and one card per user. */
@Injectable()
export class StripeCardIssuer implements CardIssuer, OnApplicationShutdown {
  private readonly client;
  private stripe: Stripe | null = null;

  constructor(
    @Inject(onboardingConfig.KEY) private readonly account: StripeAccount,
    private readonly cards: StripeCards,
    @Optional() timeoutMs?: number,
  ) {
    this.client = new ProviderClient(account.stripeUrl, timeoutMs);
  }

  async issue(request: CardRequest): Promise<{ readonly cardId: string }> {
    const { userId } = request;
    const row = await this.cards.begin(userId);
    if (row.forgotten_at !== null) throw new ProviderRefused(en.reasonClosed);
    if (row.card_id !== null) return { cardId: await this.ownCard(userId, row.card_id, row) };
    try {
      return { cardId: await this.issueOnce(request, row) };
    } finally {
      // The person may have been erased before the creation.
      if (await this.cards.isForgotten(userId)) await this.forget(userId);
    }
  }

  /** Returns the card's id after a check of its owner at Stripe, because the row does not prove the owner. */
  private async ownCard(userId: string, id: string, row: StripeCardRow): Promise<string> {
    const card = await this.call(({ cards }) => cards.retrieve(id));
    return cardIn(userId, String(row.cardholder_id))(card).id;
  }

  /** Issues a card unless Stripe lists one already, because idempotency keys expire after a day. */
  private async issueOnce(request: CardRequest, row: StripeCardRow): Promise<string> {
    const { userId } = request;
    const cardholderId = await this.requireCardholder(request, row);
    let live = await this.liveCards(userId, cardholderId);
    if (live.length === 0) {
      await this.createCard(userId, cardholderId, row);
      live = await this.liveCards(userId, cardholderId);
    }
    const [oldest] = live;
    if (oldest === undefined) throw unavailable('Stripe', 'it does not list the card that it created');
    const cardId = await this.cards.keep('card_id', userId, oldest.id);
    if (cardId === null) throw unavailable('Stripe', 'the person is erased');
    // A stalled process may have created another card. The first stored one remains.
    for (const { id } of live) if (id !== cardId) await this.cancel(id);
    return cardId;
  }

  /** Cancels the cards and blanks the cardholder, which Stripe never deletes. The name on cards remains. */
  async forget(userId: string): Promise<void> {
    const row = await this.cards.forgotten(userId);
    if (row === null) return;
    const address = { ...this.account.stripeIssuingBillingAddress };
    for (const id of await this.findCardholders(userId, row)) {
      for (const card of await this.liveCards(userId, id)) await this.cancel(card.id);
      const erased = { ...ERASED_PERSON, status: 'inactive', billing: { address } } as const;
      await this.call(({ cardholders }) => cardholders.update(id, erased));
    }
  }

  onApplicationShutdown(): Promise<void> {
    return this.client.close();
  }

  /** Returns the user's cardholders, even those that a crashed process created but did not store. */
  private async findCardholders(userId: string, row: StripeCardRow): Promise<readonly string[]> {
    const gte = Math.floor(row.first_requested_at.getTime() / 1000) - CLOCK_TOLERANCE_SECONDS;
    const lte = Math.ceil(row.last_requested_at.getTime() / 1000) + CLOCK_TOLERANCE_SECONDS;
    const listed = await this.listCardholders({ created: { gte, lte } }, userId);
    const ids = listed.map(({ id }) => id);
    const kept = row.cardholder_id;
    return kept === null || ids.includes(kept) ? ids : [...ids, (await this.cardholder(kept, userId)).id];
  }

  private async requireCardholder(request: CardRequest, row: StripeCardRow): Promise<string> {
    const { userId, phoneNumber } = request;
    const known = row.cardholder_id;
    const cardholder =
      known === null
        ? (await this.listCardholders({ phone_number: phoneNumber }, userId))[0]
        : await this.cardholder(known, userId);
    const found = cardholder ?? (await this.createCardholder(request, row));
    const id = await this.cards.keep('cardholder_id', userId, found.id);
    if (id !== found.id)
      throw unavailable('Stripe', 'another process created the cardholder, or the person is erased');
    requireUsable(found);
    return id;
  }

  private async cardholder(id: string, userId: string): Promise<Cardholder> {
    return cardholderIn(userId)(await this.call(({ cardholders }) => cardholders.retrieve(id)));
  }

  private async createCardholder(request: CardRequest, row: StripeCardRow): Promise<Cardholder> {
    const { userId } = request;
    const params = toCardholder(request, this.account.stripeIssuingBillingAddress);
    const created = await this.create(userId, row, 'cardholder', ({ cardholders }, options) =>
      cardholders.create(params, options),
    );
    failpoint('onboarding.cardholder_created');
    return cardholderIn(userId)(created);
  }

  private async createCard(userId: string, cardholder: string, row: StripeCardRow): Promise<void> {
    const { stripeIssuingCurrency: currency } = this.account;
    const params = { cardholder, currency, type: 'virtual', status: 'active', metadata: { user_id: userId } };
    const created = await this.create(userId, row, 'card', ({ cards }, options) =>
      cards.create(params, options),
    );
    failpoint('onboarding.card_created');
    cardIn(userId, cardholder)(created);
  }

  /** Creates an object. The idempotency key remains the same until Stripe stores a failure under it. */
  private async create<T>(
    userId: string,
    { generation }: StripeCardRow,
    what: 'cardholder' | 'card',
    create: (issuing: Stripe['issuing'], options: { idempotencyKey: string }) => Promise<T>,
  ): Promise<T> {
    const idempotencyKey = deriveId('stripe issuing', what, userId, String(generation));
    const { issuing } = await this.open();
    try {
      return await create(issuing, { idempotencyKey });
    } catch (error) {
      // If the object was created nevertheless, the next attempt finds it in the list.
      if (endsKey(error)) await this.cards.nextGeneration(userId, generation);
      throw providerError(error);
    }
  }

  private async liveCards(userId: string, cardholder: string): Promise<readonly Card[]> {
    const listed = await this.call(({ cards }) =>
      cards.list({ cardholder, limit: 100 }).autoPagingToArray({ limit: MAX_CARDS }),
    );
    return listed
      .map(cardIn(userId, cardholder))
      .filter(({ status }) => status !== 'canceled')
      .sort(byAge);
  }

  private async listCardholders(
    filter: { phone_number: string } | { created: { gte: number; lte: number } },
    userId: string,
  ): Promise<readonly Cardholder[]> {
    const found: Cardholder[] = [];
    await this.call(async ({ cardholders }) => {
      // The number may belong to another person by now, or to the same person at another merchant.
      for await (const each of cardholders.list({ ...filter, limit: 100 }))
        if (isOf(each, userId)) found.push(each);
    });
    return found.sort(byAge);
  }

  private async cancel(cardId: string): Promise<void> {
    await this.call(({ cards }) => cards.update(cardId, { status: 'canceled' }));
  }

  private async call<T>(send: (issuing: Stripe['issuing']) => Promise<T>): Promise<T> {
    const { issuing } = await this.open();
    try {
      return await send(issuing);
    } catch (error) {
      throw providerError(error);
    }
  }

  private async open(): Promise<Stripe> {
    if (this.stripe !== null) return this.stripe;
    const { default: Package } = await import('stripe');
    return (this.stripe = new Package(this.account.stripeSecretKey, {
      apiVersion: STRIPE_VERSION,
      httpClient: Package.createFetchHttpClient(stripeFetch(this.client)),
      // The worker retries the step with the same keys.
      maxNetworkRetries: 0,
      telemetry: false,
    }));
  }
}

/** Throws unless Stripe accepts the cardholder. Its sanctions screening usually takes less than a day. */
function requireUsable({ status, requirements }: Cardholder): void {
  const reason = requirements?.disabled_reason ?? null;
  if (status === 'blocked' || reason === 'rejected.listed') throw new ProviderRefused(en.reasonCardRefused);
  if (reason === 'requirements.past_due') throw new ProviderRefused(en.reasonCardMore);
  if (reason !== null) throw unavailable('Stripe', 'it reviews the cardholder');
}
