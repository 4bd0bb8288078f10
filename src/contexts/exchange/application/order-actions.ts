import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { isZero } from '../../../kernel/decimal.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { observe } from '../domain/observation.js';
import {
  amountReceived,
  cancelOrder,
  existingOrder,
  hasEnded,
  isAfter,
  isOpen,
  markAsPaid,
  order,
  type ExistingOrder,
  type OrderState,
} from '../domain/order.js';
import { PAYER_FIELDS, type OrderEvent, type OrderRequest } from '../domain/order-events.js';
import { orderResponse } from '../domain/order-record.js';
import { OrderPoller } from './order-poller.js';
import { exchangeConfig, type ExchangeConfig } from '../settings.js';

/** A poll is fresh for this long: more frequent requests get what it found. */
const FRESH_MS = 500;
const MAX_FRESH = 10_000;

/** A merchant acts on an order. */
export interface OrderAction {
  readonly orderId: string;
  readonly keyId: string;
  /** Throws unless the request may act on this order (contract.md 21.4). */
  readonly authorize?: ((order: ExistingOrder) => void) | undefined;
  /** Goes into the response that is stored: {@link orderResponse}. */
  readonly complianceNotice: string | null;
  /** The ticket; absent where the response is not stored. */
  readonly ticket?: IdempotencyTicket;
  readonly cause: EventMetadata;
}

abstract class OrderCommand extends Command<ExistingOrder> {
  constructor(readonly action: OrderAction) {
    super();
  }
}

/** Cancels a pending order (contract.md 22.5). Throws `unavailable` during an outage of the provider. */
export class CancelOrder extends OrderCommand {}

/** The payer says that the transfer is on its way: the order waits longer (contract.md 22.5). */
export class MarkOrderAsPaid extends OrderCommand {}

/**
 * Polls the provider and returns the order as it is then (contract.md 22.5). Throws `unavailable` during an outage of the
 * provider unless the order has ended.
 */
export class RefreshOrder extends OrderCommand {}

type OwnOrder = Pick<OrderAction, 'orderId' | 'keyId' | 'authorize'>;

/** Orders for those who created them. */
@Injectable()
export class OwnOrders {
  constructor(private readonly loop: CommandLoop) {}

  /** The order, for the key that created it alone (contract.md 22.6). Throws `not_found`, and what `authorize` throws. */
  async load({ orderId, keyId, authorize }: OwnOrder): Promise<ExistingOrder> {
    if (!isUuid(orderId)) throw DomainError.notFound('Order');
    const state = existingOrder((await this.loop.load(order, orderId.toLowerCase())).state);
    if (state.facts.key_id !== keyId) throw DomainError.notFound('Order');
    authorize?.(state);
    return state;
  }

  /** The response is stored with the events of the action. */
  async act(
    { order_id: orderId }: ExistingOrder['facts'],
    { cause, ticket, complianceNotice }: OrderAction,
    decide: (state: OrderState) => OrderEvent[],
  ): Promise<ExistingOrder> {
    const body = (after: OrderState): string => orderResponse(existingOrder(after), complianceNotice);
    const response = { ...(ticket && { ticket }), status: 200, body };
    const { state } = await this.loop.execute(order, orderId, decide, { metadata: cause, response });
    return existingOrder(state);
  }
}

/** Polls first: an order that was paid seconds ago is not cancelled over its deposit. */
@CommandHandler(CancelOrder)
export class CancelOrderHandler implements ICommandHandler<CancelOrder> {
  constructor(
    private readonly orders: OwnOrders,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly poller: OrderPoller,
  ) {}

  async execute({ action }: CancelOrder): Promise<ExistingOrder> {
    const { facts, status } = await this.orders.load(action);
    const polled = status === 'pending' ? await this.poller.pollFor(facts.order_id, action.cause) : null;
    const command = { at: timestamp(this.clock), isDepositPending: polled?.isDepositPending ?? false };
    return this.orders.act(facts, action, (current) => cancelOrder(command, current));
  }
}

@CommandHandler(MarkOrderAsPaid)
export class MarkOrderAsPaidHandler implements ICommandHandler<MarkOrderAsPaid> {
  constructor(
    private readonly orders: OwnOrders,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(exchangeConfig.KEY) private readonly config: ExchangeConfig,
  ) {}

  async execute({ action }: MarkOrderAsPaid): Promise<ExistingOrder> {
    const { facts } = await this.orders.load(action);
    const now = this.clock.now();
    const waitsUntil = new Date(now.getTime() + this.config.exchangePaidWaitSeconds * 1000).toISOString();
    const command = { at: now.toISOString(), waitsUntil };
    return this.orders.act(facts, action, (current) => markAsPaid(command, current));
  }
}

@CommandHandler(RefreshOrder)
export class RefreshOrderHandler implements ICommandHandler<RefreshOrder> {
  private readonly fresh = new LRUCache<string, true>({ ...upTo(MAX_FRESH), ttl: FRESH_MS });

  constructor(
    private readonly orders: OwnOrders,
    private readonly poller: OrderPoller,
  ) {}

  async execute({ action }: RefreshOrder): Promise<ExistingOrder> {
    const known = await this.orders.load(action);
    const { order_id: orderId } = known.facts;
    if (hasEnded(known) || this.fresh.has(orderId)) return known;
    const { state } = await this.poller.pollFor(orderId, action.cause);
    this.fresh.set(orderId, true);
    // A poll that was in flight already may have loaded the order before an action that `known` includes.
    return isAfter(known.updatedAt, state.updatedAt) ? known : state;
  }
}

/** The parameters of a pay page's link, which all orders of the page have. */
export type Payer = Omit<OrderRequest, 'merchant_id' | 'pair_id'>;

/** The order of a payer, for an {@link OrderAction}: it is `not_found` for another one. */
export function ofPayer(payer: Payer, orderId: string): OwnOrder {
  const authorize = ({ facts }: ExistingOrder): void => {
    if (PAYER_FIELDS.some((name) => facts[name] !== payer[name])) throw DomainError.notFound('Order');
  };
  return { orderId, keyId: payer.key_id, authorize };
}

/**
 * Ends an open order of the sandbox's provider as if that had: it failed, and what was received is refundable, or that is
 * refunded. One that has ended so stays. Only in the sandbox. Throws `not_found`, and `invalid_transition` for one that is
 * processing or has ended otherwise, and for a refund of nothing.
 */
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
    // The hash has the form of one, like the payouts of the sandbox's provider, and is no transaction.
    const digest = createHash('sha256').update(`sandbox refund ${orderId}`).digest('hex');
    const outcome =
      kind === 'failed' ? { kind, reason: 'no_liquidity' } : { kind, transactionHash: `0x${digest}` };
    const seen = { deposits: [], isDepositPending: false, completeUntil: null, outcome };
    const ended = { ...seen, at: timestamp(this.clock) };
    const decide = (current: OrderState): OrderEvent[] => {
      const found = existingOrder(current);
      if (found.facts.merchant_id !== merchantId) throw DomainError.notFound('Order');
      if (found.status === kind) return [];
      if (found.facts.provider !== 'sandbox')
        throw refused('The order is not at the provider of the sandbox');
      // One that is processing may be paid out already.
      if (!isOpen(found)) throw refused(`The order is ${found.status}`);
      if (kind === 'refunded' && isZero(amountReceived(found)))
        throw refused('The order has received nothing to refund');
      return observe(ended, found);
    };
    return existingOrder((await this.loop.execute(order, orderId, decide, { metadata: cause })).state);
  }
}

function refused(message: string): DomainError {
  return new DomainError('invalid_transition', message);
}
