import type { OnApplicationShutdown } from '@nestjs/common';
import type Stripe from 'stripe';
import { deriveId } from '../../../../kernel/ids.js';
import { failpoint } from '../../../../platform/failpoints.js';
import {
  ProviderRefusal,
  ProviderUnavailable,
  type CardIssuer,
  type CardRequest,
} from '../../application/ports.js';
import type { BillingAddress } from '../../provider-settings.js';
import type { AskedCard, StripeCards } from '../../store/stripe-cards.js';
import { providerClient, unavailable } from '../provider-client.js';
import { cardholderOf } from './cardholder.js';
import { CARD_REASONS, isKept, isOtherRequest, toldBy } from './stripe-errors.js';
import { byAge, cardholderIn, cardIn, isOf, type Card, type Cardholder } from './stripe-objects.js';
import { StripeTransport } from './stripe-transport.js';

export interface StripeAccount {
  readonly stripeSecretKey: string;
  readonly stripeUrl: string;
  readonly stripeIssuingCurrency: string;
  readonly stripeIssuingAddress: BillingAddress;
}

/** The version whose parameters and objects are read here; the account's own does not matter. */
export const STRIPE_VERSION = '2026-10-28.endive';
/** More objects of one person there are not; a list without an end is not read to its end. */
const MOST_LISTED = 500;
/** Of everybody's in the time in which somebody's were made. */
const MOST_LISTED_OF_ALL = 100_000;
/** How far Stripe's clock may be from ours. */
const CLOCK_TOLERANCE_SECONDS = 3600;
/** In the place of a person: a reserved domain, and a number that is nobody's. */
const NOBODY = {
  email: 'erased@example.com',
  phone_number: '+12025550100',
  individual: { first_name: 'Erased', last_name: 'Person', dob: { day: 1, month: 1, year: 1970 } },
};

/**
 * Virtual cards of Stripe Issuing (ADR 124): one cardholder and one card per user for ever. Stripe's idempotency keys end
 * after a day, so what there is is looked up first, and after a card was made once more: of two the one stays that was kept first.
 */
export class StripeCardIssuer implements CardIssuer, OnApplicationShutdown {
  private readonly client;
  private stripe: Promise<Stripe> | null = null;

  constructor(
    private readonly account: StripeAccount,
    private readonly cards: StripeCards,
    timeoutMs?: number,
  ) {
    this.client = providerClient(timeoutMs);
  }

  async issue(request: CardRequest): Promise<{ readonly cardId: string }> {
    const { userId } = request;
    const asked = await this.cards.asked(userId);
    if (asked.forgotten_at !== null) throw new ProviderRefusal(CARD_REASONS.closed);
    if (asked.card_id !== null) return { cardId: await this.ownCard(userId, asked.card_id, asked) };
    try {
      return { cardId: await this.make(request, asked) };
    } finally {
      // Whatever came about after the person was forgotten goes, too.
      if (await this.cards.isForgotten(userId)) await this.forget(userId);
    }
  }

  /** The row is no proof that the card is of this person: Stripe's metadata is. */
  private async ownCard(userId: string, id: string, asked: AskedCard): Promise<string> {
    const stripe = await this.open();
    const card = await requested(() => stripe.issuing.cards.retrieve(id));
    return cardIn(userId, String(asked.cardholder_id))(card).id;
  }

  private async make(request: CardRequest, asked: AskedCard): Promise<string> {
    const { userId } = request;
    const cardholderId = await this.requireCardholder(request, asked);
    let live = await this.liveCards(userId, cardholderId);
    if (live.length === 0) {
      await this.createCard(userId, cardholderId, asked);
      live = await this.liveCards(userId, cardholderId);
    }
    const [oldest] = live;
    if (oldest === undefined) throw unavailable('Stripe', 'it does not list the card that it made');
    const cardId = await this.cards.keepCard(userId, oldest.id);
    if (cardId === null) throw unavailable('Stripe', 'the person is forgotten');
    failpoint('onboarding.card_kept');
    // Of a process that stood still while others did its work.
    for (const { id } of live) if (id !== cardId) await this.cancel(id);
    return cardId;
  }

  /**
   * Cancels the cards, and puts what stands for nobody in the place of what Stripe lets one change. The name on the card
   * cannot be changed, and Stripe deletes no cardholder.
   */
  async forget(userId: string): Promise<void> {
    const asked = await this.cards.forgotten(userId);
    if (asked === null) return;
    const stripe = await this.open();
    for (const id of await this.cardholdersOf(userId, asked)) {
      for (const card of await this.liveCards(userId, id)) await this.cancel(card.id);
      const address = { ...this.account.stripeIssuingAddress };
      await requested(() =>
        stripe.issuing.cardholders.update(id, { status: 'inactive', billing: { address }, ...NOBODY }),
      );
    }
  }

  onApplicationShutdown(): Promise<void> {
    return this.client.close();
  }

  /** Also orphaned ones, of a process that died. */
  private async cardholdersOf(userId: string, asked: AskedCard): Promise<readonly string[]> {
    const gte = Math.floor(asked.first_asked_at.getTime() / 1000) - CLOCK_TOLERANCE_SECONDS;
    const lte = Math.ceil(asked.last_asked_at.getTime() / 1000) + CLOCK_TOLERANCE_SECONDS;
    const listed = await this.listCardholders({ created: { gte, lte } }, userId, MOST_LISTED_OF_ALL);
    const ids = listed.map(({ id }) => id);
    const kept = asked.cardholder_id;
    return kept === null || ids.includes(kept) ? ids : [...ids, (await this.cardholder(kept, userId)).id];
  }

  private async requireCardholder(request: CardRequest, asked: AskedCard): Promise<string> {
    const { userId, phoneNumber } = request;
    const known = asked.cardholder_id;
    const cardholder: Cardholder | null =
      known === null
        ? ((await this.listCardholders({ phone_number: phoneNumber }, userId, MOST_LISTED))[0] ?? null)
        : await this.cardholder(known, userId);
    const made = cardholder ?? (await this.createCardholder(request, asked));
    const id = await this.cards.keepCardholder(userId, made.id);
    failpoint('onboarding.cardholder_kept');
    if (id !== made.id)
      throw unavailable('Stripe', 'another process has made the cardholder, or the person is forgotten');
    requireGoodStanding(made);
    return id;
  }

  private async cardholder(id: string, userId: string): Promise<Cardholder> {
    const stripe = await this.open();
    return requested(() => stripe.issuing.cardholders.retrieve(id)).then(cardholderIn(userId));
  }

  private async createCardholder(request: CardRequest, asked: AskedCard): Promise<Cardholder> {
    const { userId } = request;
    const stripe = await this.open();
    const params = cardholderOf(request, this.account.stripeIssuingAddress);
    const made = await this.create(userId, asked, 'cardholder', (options) =>
      stripe.issuing.cardholders.create(params, options),
    );
    failpoint('onboarding.cardholder_created');
    return cardholderIn(userId)(made);
  }

  private async createCard(userId: string, cardholder: string, asked: AskedCard): Promise<void> {
    const stripe = await this.open();
    const { stripeIssuingCurrency: currency } = this.account;
    const params = { cardholder, currency, type: 'virtual', status: 'active', metadata: { user_id: userId } };
    const made = await this.create(userId, asked, 'card', (options) =>
      stripe.issuing.cards.create(params, options),
    );
    failpoint('onboarding.card_created');
    cardIn(userId, cardholder)(made);
  }

  /** Under a key that is the same until Stripe would give no more than a failure under it. */
  private async create<T>(
    userId: string,
    { generation }: AskedCard,
    what: 'cardholder' | 'card',
    create: (options: { idempotencyKey: string }) => Promise<T>,
  ): Promise<T> {
    const idempotencyKey = deriveId('stripe issuing', what, userId, String(generation));
    try {
      return await create({ idempotencyKey });
    } catch (error) {
      // What was made all the same is found by the look before the next attempt.
      if (isOtherRequest(error) || isKept(error)) await this.cards.nextGeneration(userId, generation);
      throw toldBy(error);
    }
  }

  /** The oldest first. */
  private async liveCards(userId: string, cardholder: string): Promise<readonly Card[]> {
    const stripe = await this.open();
    const listed = await requested(() =>
      stripe.issuing.cards.list({ cardholder, limit: 100 }).autoPagingToArray({ limit: MOST_LISTED }),
    );
    return listed
      .map(cardIn(userId, cardholder))
      .filter(({ status }) => status !== 'canceled')
      .sort(byAge);
  }

  private async listCardholders(
    filter: { phone_number: string } | { created: { gte: number; lte: number } },
    userId: string,
    most: number,
  ): Promise<readonly Cardholder[]> {
    const stripe = await this.open();
    const found: Cardholder[] = [];
    await requested(async () => {
      let seen = 0;
      for await (const each of stripe.issuing.cardholders.list({ ...filter, limit: 100 })) {
        // The number may be somebody else's by now, or the same person's at another merchant.
        if (isOf(each, userId)) found.push(cardholderIn(userId)(each));
        seen += 1;
        if (seen >= most) break;
      }
    });
    return found.sort(byAge);
  }

  private async cancel(cardId: string): Promise<void> {
    const stripe = await this.open();
    await requested(() => stripe.issuing.cards.update(cardId, { status: 'canceled' }));
  }

  private open(): Promise<Stripe> {
    return (this.stripe ??= this.load());
  }

  /** The package is loaded by the first card. */
  private async load(): Promise<Stripe> {
    const { default: Package } = await import('stripe');
    const { stripeSecretKey, stripeUrl } = this.account;
    return new Package(stripeSecretKey, {
      apiVersion: STRIPE_VERSION,
      httpClient: new StripeTransport(this.client, stripeUrl),
      // The step is tried again later, by the same keys.
      maxNetworkRetries: 0,
      telemetry: false,
    });
  }
}

async function requested<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw isOurs(error) ? error : toldBy(error);
  }
}

function isOurs(error: unknown): boolean {
  return error instanceof ProviderRefusal || error instanceof ProviderUnavailable;
}

/** Stripe looks people up in lists, mostly within a day. */
function requireGoodStanding({ status, requirements }: Cardholder): void {
  const reason = requirements?.disabled_reason ?? null;
  if (status === 'blocked' || reason === 'rejected.listed') throw new ProviderRefusal(CARD_REASONS.refused);
  if (reason === 'requirements.past_due') throw new ProviderRefusal(CARD_REASONS.more);
  if (reason !== null) throw unavailable('Stripe', 'it reviews the cardholder');
}
