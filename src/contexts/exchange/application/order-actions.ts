import { Inject, Injectable } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import {
  cancelOrder,
  existingOrder,
  hasEnded,
  isAfter,
  markAsPaid,
  order,
  type ExistingOrder,
  type OrderState,
} from '../domain/order.js';
import type { OrderEvent } from '../domain/order-events.js';
import { orderResponse } from '../domain/order-record.js';
import { OrderPoller } from './order-poller.js';
import { unavailableResponse } from './exchange-providers.js';
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
  /** Absent: the response is stored nowhere. */
  readonly ticket?: IdempotencyTicket;
  readonly cause: EventMetadata;
}

type OwnOrder = Pick<OrderAction, 'orderId' | 'keyId' | 'authorize'>;

/** An order, and the revision of its last event. */
export interface LoadedOrder {
  readonly state: ExistingOrder;
  readonly revision: number;
}

/** Cancels a pending order (contract.md 22.5). Throws `unavailable` during an outage of the provider. */
export class CancelOrder extends Command<ExistingOrder> {
  constructor(readonly action: OrderAction) {
    super();
  }
}

/** The payer says that the transfer is on its way: the order waits longer (contract.md 22.5). */
export class MarkOrderAsPaid extends Command<ExistingOrder> {
  constructor(readonly action: OrderAction) {
    super();
  }
}

/**
 * Polls the provider and returns the order as it is then (contract.md 22.5). Throws `unavailable` during an outage of the
 * provider unless the order has ended.
 */
export class RefreshOrder extends Command<ExistingOrder> {
  constructor(
    readonly orderId: string,
    readonly keyId: string,
    readonly cause: EventMetadata,
    readonly authorize?: OrderAction['authorize'],
  ) {
    super();
  }
}

/** Polls first: an order that was paid seconds ago is not cancelled over its deposit. */
@CommandHandler(CancelOrder)
export class CancelOrderHandler implements ICommandHandler<CancelOrder> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly poller: OrderPoller,
  ) {}

  async execute({ action }: CancelOrder): Promise<ExistingOrder> {
    const { facts, status } = (await ownOrder(this.loop, action)).state;
    const isDepositPending = status === 'pending' && (await this.isDepositPending(facts.order_id, action));
    const command = { at: timestamp(this.clock), isDepositPending };
    return act(this.loop, facts.order_id, action, (current) => cancelOrder(command, current));
  }

  private async isDepositPending(orderId: string, { cause }: OrderAction): Promise<boolean> {
    try {
      return (await this.poller.poll(orderId, cause)).isDepositPending;
    } catch (error) {
      throw unavailableResponse(error);
    }
  }
}

@CommandHandler(MarkOrderAsPaid)
export class MarkOrderAsPaidHandler implements ICommandHandler<MarkOrderAsPaid> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(exchangeConfig.KEY) private readonly config: ExchangeConfig,
  ) {}

  async execute({ action }: MarkOrderAsPaid): Promise<ExistingOrder> {
    const { facts } = (await ownOrder(this.loop, action)).state;
    const now = this.clock.now();
    const waitsUntil = new Date(now.getTime() + this.config.exchangePaidWaitSeconds * 1000).toISOString();
    const command = { at: now.toISOString(), waitsUntil };
    return act(this.loop, facts.order_id, action, (current) => markAsPaid(command, current));
  }
}

@CommandHandler(RefreshOrder)
export class RefreshOrderHandler implements ICommandHandler<RefreshOrder> {
  private readonly fresh = new LRUCache<string, true>({ ...upTo(MAX_FRESH), ttl: FRESH_MS });

  constructor(
    private readonly loop: CommandLoop,
    private readonly poller: OrderPoller,
  ) {}

  async execute(command: RefreshOrder): Promise<ExistingOrder> {
    const { state: known } = await ownOrder(this.loop, command);
    const { order_id: orderId } = known.facts;
    if (hasEnded(known) || this.fresh.has(orderId)) return known;
    try {
      const { state } = await this.poller.poll(orderId, command.cause);
      this.fresh.set(orderId, true);
      // A poll that was in flight already may have loaded the order before an action that `known` includes.
      return isAfter(known.updatedAt, state.updatedAt) ? known : state;
    } catch (error) {
      throw unavailableResponse(error);
    }
  }
}

/** The order, for the key that created it alone (contract.md 22.6). Throws `not_found`, and what `authorize` throws. */
export async function ownOrder(
  loop: CommandLoop,
  { orderId, keyId, authorize }: OwnOrder,
): Promise<LoadedOrder> {
  if (!isUuid(orderId)) throw DomainError.notFound('Order');
  const loaded = await loadOrder(loop, orderId.toLowerCase());
  if (loaded.state.facts.key_id !== keyId) throw DomainError.notFound('Order');
  authorize?.(loaded.state);
  return loaded;
}

/** {@link ownOrder} for a read. */
@Injectable()
export class OwnOrders {
  constructor(private readonly loop: CommandLoop) {}

  load(order: OwnOrder): Promise<LoadedOrder> {
    return ownOrder(this.loop, order);
  }
}

/** Throws `not_found`. */
export async function loadOrder(loop: CommandLoop, orderId: string): Promise<LoadedOrder> {
  const { state, revision } = await loop.load(order, orderId);
  return { state: existingOrder(state), revision: revision ?? -1 };
}

/** The response is stored with the events of the action. */
async function act(
  loop: CommandLoop,
  orderId: string,
  { cause, ticket, complianceNotice }: OrderAction,
  decide: Parameters<typeof loop.execute<OrderState, OrderEvent>>[2],
): Promise<ExistingOrder> {
  const body = (after: OrderState): string => orderResponse(existingOrder(after), complianceNotice);
  const response = { ...(ticket && { ticket }), status: 200, body };
  return existingOrder((await loop.execute(order, orderId, decide, { metadata: cause, response })).state);
}
