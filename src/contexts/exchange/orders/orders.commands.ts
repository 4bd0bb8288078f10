import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { isZero } from '../../../kernel/decimal.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { failpoint } from '../../../platform/failpoints.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import {
  createOrder,
  existingOrder,
  order,
  type ExistingOrder,
  type OrderState,
  amountReceived,
  cancelOrder,
  hasEnded,
  isAfter,
  isOpen,
  markAsPaid,
  transitionError,
} from './order.js';
import {
  PAYER_FIELDS,
  userHash,
  type OrderEvent,
  type OrderFacts,
  type OrderRequest,
} from './order-events.js';
import { orderResponse } from './order-record.js';
import { countDecimals, pairOf } from '../tokens/catalog.js';
import { ExchangeProviders, rejectCaller } from '../providers/exchange-providers.service.js';
import { exchangeConfig, type ExchangeConfig } from '../exchange.config.js';
import { observe } from '../watch/observation.js';
import { OrderPoller } from '../watch/order-watch.processor.js';
import type { ExchangeProvider, NewProviderOrder } from '../providers/exchange-provider.ports.js';

interface NewOrder extends OrderRequest, Required<Omit<NewProviderOrder, 'order_id'>> {
  /** The caller's network address or /64, stored as a keyed hash if there is no `user_id`. */
  readonly client: string;
}

/**
 * Creates one order per idempotency ticket (contract.md 22.1). Throws `validation_failed` with the parameter
 * that the provider refuses, or `unavailable` during an outage of the provider.
 */
export class CreateOrder extends Command<ExistingOrder> {
  constructor(
    readonly order: NewOrder,
    readonly complianceNotice: string | null,
    readonly ticket: Pick<IdempotencyTicket, 'id' | 'response'>,
    readonly cause: EventMetadata,
  ) {
    super();
  }
}

/** Calls the provider, then stores the order. A repeat after a crash opens another order at the provider. */
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
    const { name } = this.providers.current;
    const { key_id, merchant_id, user_id } = requested;
    const call = { operation: 'create', orderId: order_id, keyId: key_id } as const;
    const { state: known } = await this.loop.load(order, order_id);
    const isNew = known.status === 'none';
    const open = (provider: ExchangeProvider) =>
      provider.create({ ...requested, order_id, amount_from, caller_address });
    const terms = isNew ? await this.providers.call(name, call, open).catch(rejectCaller) : known;
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
      decimals_to: countDecimals(pairOf(requested.pair_id)!.to),
      created_at: now.toISOString(),
      expires_at: new Date(Math.min(expiryMs, Date.parse(terms.expires_at))).toISOString(),
    };
    const body = (after: OrderState): string => orderResponse(existingOrder(after), complianceNotice);
    const { state } = await this.loop.execute(order, order_id, (current) => createOrder(facts, current), {
      metadata: cause,
      expectNew: isNew,
      response: { ticket, status: 201, body },
    });
    return state as ExistingOrder;
  }
}

/** An order and the key that must have created it. */
interface OwnOrder {
  readonly orderId: string;
  readonly keyId: string;
  /** Throws unless the request may read or change this order (contract.md 21.4). */
  readonly authorize?: ((order: ExistingOrder) => void) | undefined;
}

@Injectable()
export class OwnOrders {
  constructor(private readonly loop: CommandLoop) {}

  /** Loads the order. Throws `not_found` for any key but its creator (contract.md 22.6). */
  async load({ orderId, keyId, authorize }: OwnOrder): Promise<ExistingOrder> {
    const state = existingOrder((await this.loop.load(order, orderId)).state);
    if (state.key_id !== keyId) throw DomainError.notFound('Order');
    authorize?.(state);
    return state;
  }
}

/** A caller's action (contract.md 22.5). `cancel` and `refresh` poll the provider, or throw `unavailable`. */
export class ActOnOrder extends Command<ExistingOrder> {
  constructor(
    readonly kind: 'cancel' | 'mark_as_paid' | 'refresh',
    readonly order: OwnOrder,
    readonly cause: EventMetadata,
    readonly complianceNotice: string | null = null,
    readonly ticket?: IdempotencyTicket,
  ) {
    super();
  }
}

@CommandHandler(ActOnOrder)
export class ActOnOrderHandler implements ICommandHandler<ActOnOrder> {
  constructor(
    private readonly loop: CommandLoop,
    private readonly orders: OwnOrders,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(exchangeConfig.KEY) private readonly config: ExchangeConfig,
    private readonly poller: OrderPoller,
  ) {}

  async execute({ kind, order: own, cause, complianceNotice, ticket }: ActOnOrder): Promise<ExistingOrder> {
    const known = await this.orders.load(own);
    if (kind === 'refresh') return this.refresh(known, cause);
    const decide = kind === 'cancel' ? await this.cancelling(known, cause) : this.marking();
    const body = (after: OrderState): string => orderResponse(existingOrder(after), complianceNotice);
    const response = { ...(ticket && { ticket }), status: 200, body };
    const { state } = await this.loop.execute(order, known.order_id, decide, { metadata: cause, response });
    return existingOrder(state);
  }

  private async refresh(known: ExistingOrder, cause: EventMetadata): Promise<ExistingOrder> {
    if (hasEnded(known)) return known;
    const { state } = await this.poller.poll(known.order_id, cause).catch(rejectCaller);
    // The poll may have started earlier and loaded an older state than `known`.
    return isAfter(known.updated_at, state.updated_at) ? known : state;
  }

  /** Returns the function that decides the cancellation. Polls first, because the order may be paid. */
  private async cancelling({ status, order_id }: ExistingOrder, cause: EventMetadata) {
    const polled = status === 'pending' ? await this.poller.poll(order_id, cause).catch(rejectCaller) : null;
    const command = { at: timestamp(this.clock), isDepositPending: polled?.isDepositPending ?? false };
    return (current: OrderState) => cancelOrder(command, current);
  }

  private marking() {
    const now = this.clock.now();
    const waitsUntil = new Date(now.getTime() + this.config.exchangePaidWaitSeconds * 1000);
    const command = { at: now.toISOString(), waits_until: waitsUntil.toISOString() };
    return (current: OrderState) => markAsPaid(command, current);
  }
}

/** The parameters of a pay page's link, common to all orders of the page. */
export type Payer = Omit<OrderRequest, 'merchant_id' | 'pair_id'>;

/** Restricts an order to its payer. Loading it for any other payer throws `not_found`. */
export function ofPayer(payer: Payer, orderId: string): OwnOrder {
  const authorize = (found: ExistingOrder): void => {
    if (PAYER_FIELDS.some((name) => found[name] !== payer[name])) throw DomainError.notFound('Order');
  };
  return { orderId, keyId: payer.key_id, authorize };
}

/** Ends an open sandbox order; a repeat has no effect. Throws `invalid_transition` for any other order. */
export class EndSandboxOrder extends Command<ExistingOrder> {
  constructor(
    readonly merchantId: string,
    readonly orderId: string,
    readonly outcome: 'failed' | 'refunded',
    readonly cause: EventMetadata,
  ) {
    super();
  }
}

@CommandHandler(EndSandboxOrder)
export class EndSandboxOrderHandler implements ICommandHandler<EndSandboxOrder> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ merchantId, orderId, outcome: kind, cause }: EndSandboxOrder): Promise<ExistingOrder> {
    // The hash is well-formed, but no such transaction exists.
    const digest = createHash('sha256').update(`sandbox refund ${orderId}`).digest('hex');
    const outcome =
      kind === 'failed' ? { kind, reason: 'no_liquidity' } : { kind, transactionHash: `0x${digest}` };
    const seen = { deposits: [], isDepositPending: false, completeUntil: null, outcome };
    const ended = { ...seen, at: timestamp(this.clock) };
    const decide = (current: OrderState): OrderEvent[] => {
      const found = existingOrder(current);
      if (found.merchant_id !== merchantId) throw DomainError.notFound('Order');
      if (found.status === kind) return [];
      if (found.provider !== 'sandbox')
        throw transitionError('The order is not at the provider of the sandbox');
      // An order that is processing may be paid out already.
      if (!isOpen(found)) throw transitionError(`The order must be open, but it is ${found.status}`);
      if (kind === 'refunded' && isZero(amountReceived(found)))
        throw transitionError('The order has received nothing to refund');
      return observe(ended, found);
    };
    return existingOrder((await this.loop.execute(order, orderId, decide, { metadata: cause })).state);
  }
}
