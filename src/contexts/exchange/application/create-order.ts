import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { failpoint } from '../../../platform/failpoints.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { createOrder, existingOrder, order, type ExistingOrder } from '../domain/order.js';
import { type OrderFacts, type RequestedOrder, userHash } from '../domain/order-events.js';
import { orderResponse } from '../domain/order-record.js';
import { decimalsOf, pairOf } from '../domain/catalog.js';
import { ProviderRefused } from '../../../platform/outbound/provider-errors.js';
import { ExchangeProviders, unavailableResponse } from './exchange-providers.js';
import { exchangeConfig, type ExchangeConfig } from '../settings.js';

/** A request that is valid as far as it can be checked without the provider. */
interface NewOrder extends RequestedOrder {
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

  async execute({
    order: { client, caller_address, amount_from, ...requested },
    complianceNotice,
    ticket,
    cause,
  }: CreateOrder): Promise<ExistingOrder> {
    const orderId = ticket.id('order');
    const pair = pairOf(requested.pair_id);
    if (pair === null) throw DomainError.invalid({ pair_id: ['is not a pair that can be exchanged'] });
    const decimalsTo = decimalsOf(pair.to);
    const { name } = this.providers.current;
    const { key_id: keyId, merchant_id: merchantId, user_id: userId } = requested;
    const call = { operation: 'create', orderId, keyId } as const;
    const terms = await this.providers
      .call(name, call, (provider) =>
        provider.create({ ...requested, order_id: orderId, amount_from, caller_address }),
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
      order_id: orderId,
      user_hash: userId === null ? null : userHash(this.keyedHash, keyId, userId),
      caller: userId === null ? this.keyedHash.of('exchange caller', merchantId, client) : null,
      provider: name,
      decimals_to: decimalsTo,
      created_at: now.toISOString(),
      expires_at: new Date(Math.min(expiryMs, Date.parse(terms.expires_at))).toISOString(),
    };
    const { state } = await this.loop.execute(order, orderId, (current) => createOrder(facts, current), {
      metadata: cause,
      expectNew: true,
      response: {
        ticket,
        status: 201,
        body: (after) => orderResponse(existingOrder(after), complianceNotice),
      },
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
