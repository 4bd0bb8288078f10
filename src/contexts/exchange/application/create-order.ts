import { Inject, Injectable } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { failpoint } from '../../../platform/failpoints.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { createOrder, existingOrder, order, type ExistingOrder, type OrderState } from '../domain/order.js';
import { type OrderFacts, type OrderRequest, userHash, type Quote } from '../domain/order-events.js';
import { orderResponse } from '../domain/order-record.js';
import { countDecimals, pairOf } from '../domain/catalog.js';
import { ProviderRefused } from '../../../platform/outbound/provider-errors.js';
import { ExchangeProviders, unavailableResponse } from './exchange-providers.js';
import { exchangeConfig, type ExchangeConfig } from '../settings.js';
import { isDecimal, isZero, needed } from '../../../kernel/decimal.js';

/** A request that is valid as far as it can be checked without the provider. */
interface NewOrder extends OrderRequest {
  /** Decimal string; null: the pair's default. */
  readonly amount_from: string | null;
  /** The caller's network address, for the provider; never stored. */
  readonly caller_address: string;
  /** Identifies the caller where there is no `user_id`: stored as a keyed hash. */
  readonly client: string;
}

/**
 * POST /v1/orders (contract.md 22.1). A repeat under the ticket's key returns the same order. Throws `validation_failed`
 * naming the parameter that the provider refuses, `unavailable` during its outage.
 */
export class CreateOrder extends Command<ExistingOrder> {
  constructor(
    readonly order: NewOrder,
    /** Goes into the response that is stored: {@link orderResponse}. */
    readonly complianceNotice: string | null,
    readonly ticket: Pick<IdempotencyTicket, 'id' | 'response'>,
    readonly cause: EventMetadata,
  ) {
    super();
  }
}

/** The provider comes first: for the same id it returns the same order, so a crash in between can be repeated. */
@CommandHandler(CreateOrder)
export class CreateOrderHandler implements ICommandHandler<CreateOrder> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(exchangeConfig.KEY) private readonly config: ExchangeConfig,
    private readonly providers: ExchangeProviders,
    private readonly keyedHash: KeyedHash,
  ) {}

  async execute({ order: given, complianceNotice, ticket, cause }: CreateOrder): Promise<ExistingOrder> {
    const { client, caller_address, amount_from, ...requested } = given;
    const order_id = ticket.id('order');
    const pair = pairOf(requested.pair_id);
    if (pair === null) throw DomainError.invalid({ pair_id: ['is not a pair that can be exchanged'] });
    const { name } = this.providers.current;
    const { key_id, merchant_id, user_id } = requested;
    const call = { operation: 'create', orderId: order_id, keyId: key_id } as const;
    const terms = await this.providers
      .call(name, call, (provider) =>
        provider.create({ ...requested, order_id, amount_from, caller_address }),
      )
      .catch((error: unknown) => {
        throw refusalResponse(error);
      });
    failpoint('order.provider_created');
    const now = this.clock.now();
    const expiryMs = now.getTime() + this.config.exchangeOrderExpirySeconds * 1000;
    const facts: OrderFacts = {
      ...terms,
      ...requested,
      order_id,
      user_hash: user_id === null ? null : userHash(this.keyedHash, key_id, user_id),
      caller: user_id === null ? this.keyedHash.of('exchange caller', merchant_id, client) : null,
      provider: name,
      decimals_to: countDecimals(pair.to),
      created_at: now.toISOString(),
      expires_at: new Date(Math.min(expiryMs, Date.parse(terms.expires_at))).toISOString(),
    };
    const body = (after: OrderState): string => orderResponse(existingOrder(after), complianceNotice);
    const { state } = await this.loop.execute(order, order_id, (current) => createOrder(facts, current), {
      metadata: cause,
      expectNew: true,
      response: { ticket, status: 201, body },
    });
    return state as ExistingOrder;
  }
}

/** 503 during an outage; 422 for what the provider refuses. */
function refusalResponse(error: unknown): unknown {
  if (error instanceof DomainError) return error.asTransient();
  if (!(error instanceof ProviderRefused)) return unavailableResponse(error);
  if (error.parameter === null) return new DomainError('validation_failed', error.message).asTransient();
  return DomainError.invalid({ [error.parameter]: [error.message] }).asTransient();
}

/** Current prices, from the amount of either side. */
@Injectable()
export class Quotes {
  constructor(private readonly providers: ExchangeProviders) {}

  /**
   * The quote for an amount of one side, or for the default amount of the pair. `keyId`: whose callers wait. Throws
   * `validation_failed`, also for an amount outside the limits of the pair, and `unavailable`.
   */
  async of(keyId: string, { pair_id, amount_from, amount_to }: Record<string, unknown>): Promise<Quote> {
    const pair = typeof pair_id === 'string' ? pairOf(pair_id) : null;
    if (pair === null) throw DomainError.invalid({ pair_id: ['is not a pair'] });
    const decimals = countDecimals(pair.from);
    if (amount_to === undefined) {
      const amount = amount_from === undefined ? null : readAmount('amount_from', amount_from, decimals);
      return this.quote(keyId, pair.id, amount);
    }
    const requested = readAmount('amount_to', amount_to, countDecimals(pair.to));
    const { rate } = await this.quote(keyId, pair.id, null);
    return this.quote(keyId, pair.id, needed(requested, rate, decimals));
  }

  private quote(keyId: string, pairId: string, amountFrom: string | null): Promise<Quote> {
    const call = { operation: 'quote', keyId } as const;
    return this.providers
      .call(this.providers.current.name, call, (provider) => provider.quote(pairId, amountFrom))
      .catch((error: unknown) => {
        if (error instanceof ProviderRefused) throw DomainError.invalid({ pair_id: [error.message] });
        throw unavailableResponse(error);
      });
  }
}

/** An amount from the page. Throws `validation_failed`. */
export function readAmount(name: string, value: unknown, decimals: number): string {
  if (!isDecimal(value, decimals) || isZero(value))
    throw DomainError.invalid({
      [name]: [`must be more than 0, with at most ${decimals} digits after the point`],
    });
  return value;
}
