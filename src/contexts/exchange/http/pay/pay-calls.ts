import { Inject, Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CLOCK, type Clock } from '../../../../kernel/clock.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import { deriveId } from '../../../../kernel/ids.js';
import type { EventMetadata } from '../../../../platform/event-store/port.js';
import { clientOf } from '../../../../platform/http/address.js';
import type { IdempotencyTicket } from '../../../../platform/idempotency/ticket.js';
import { CancelOrder } from '../../application/cancel-order.js';
import { CreateOrder } from '../../application/create-order.js';
import { EXCHANGE_KEY_DIRECTORY, type ExchangeKeyDirectory } from '../../../access/contract.js';
import { MarkOrderAsPaid } from '../../application/mark-order-as-paid.js';
import { PayerOrders, type Payer, type PayerSession } from '../../application/payer.js';
import { amountOf, Quotes } from '../../application/quotes.js';
import type { MadeOrder } from '../../domain/order.js';
import { decimalsOf, pairOf } from '../../domain/tokens.js';
import { ProviderBudget } from '../provider-budget.js';
import type { PayOrder, PayQuote } from './page-types.js';
import { payOrder } from './pay-order.js';
import { PaySessions } from './sessions.js';
import { TestPayments } from './test-payments.js';

/** Of a request of the page. */
export interface PageCall {
  readonly payer: PayerSession;
  readonly address: string;
  readonly requestId: string;
}
type Input = Readonly<Record<string, unknown>>;

const ACTIONS = { mark_as_paid: MarkOrderAsPaid, cancel: CancelOrder } as const;

/** What the page asks for, in the name of its payer alone. */
@Injectable()
export class PayCalls {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly orders: PayerOrders,
    private readonly quotes: Quotes,
    private readonly sessions: PaySessions,
    private readonly budget: ProviderBudget,
    private readonly testPayments: TestPayments,
    @Inject(EXCHANGE_KEY_DIRECTORY) private readonly keys: ExchangeKeyDirectory,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async quote(
    call: PageCall,
    { pair_id: pairId, amount_from: amountFrom, amount_to: amountTo }: Input,
  ): Promise<PayQuote> {
    this.count(call);
    const quote = await this.quotes.of(call.payer.keyId, { pairId, amountFrom, amountTo });
    return {
      amount_from: quote.amountFrom,
      amount_to: quote.amountTo,
      rate: quote.rate,
      minimum: quote.minimum,
      maximum: quote.maximum,
      expires_at: quote.expiresAt,
      now: this.now(),
    };
  }

  /** The same `request_id` of the same payer is the same order (contract.md 26.2). */
  async create(call: PageCall, body: Input): Promise<PayOrder> {
    const { payer, address, requestId } = call;
    const { pair_id: pairId, amount_from: amount, request_id: request } = body;
    if (typeof request !== 'string' || !/^[0-9a-f]{32}$/.test(request))
      throw DomainError.invalid({ request_id: ['must be 32 hexadecimal digits'] });
    const pair = typeof pairId === 'string' ? pairOf(pairId) : null;
    if (pair === null) throw DomainError.invalid({ pair_id: ['is no pair'] });
    const amountFrom = amountOf('amount_from', amount, decimalsOf(pair.from));
    this.count(call);
    const key = await this.keys.find(payer.keyId);
    if (key === null) throw DomainError.notFound('Key');
    const { merchantId } = key;
    const caller = { callerAddress: address, client: clientOf(address) };
    const order = { ...payer, ...caller, merchantId, pairId: pair.id, amountFrom };
    const ticket = new PageTicket(this.sessions.link(payer), request);
    const cause = causeOf('orders', requestId, merchantId, payer);
    return this.shown(await this.commandBus.execute(new CreateOrder(order, null, ticket, cause)));
  }

  async act(call: PageCall, orderId: string, name: string): Promise<PayOrder> {
    const { payer, requestId } = call;
    if (!Object.hasOwn(ACTIONS, name)) throw DomainError.notFound('Page');
    this.count(call);
    const { state } = await this.orders.find(payer, orderId);
    const Action = ACTIONS[name as keyof typeof ACTIONS];
    const action = {
      orderId: state.facts.order_id,
      keyId: payer.keyId,
      complianceNotice: null,
      ticket: new PageTicket(orderId, name),
      cause: causeOf(`orders/:id/${name}`, requestId, state.facts.merchant_id, payer),
    };
    return this.shown(await this.commandBus.execute(new Action(action)));
  }

  async order({ payer }: PageCall, orderId: string): Promise<PayOrder> {
    return this.shown((await this.orders.find(payer, orderId)).state);
  }

  /** Sandbox alone. Pays an order of this payer with test money. */
  async payForTest({ payer }: PageCall, orderId: string): Promise<PayOrder> {
    const { state } = await this.orders.find(payer, orderId);
    await this.testPayments.pay(state);
    return this.shown(state);
  }

  private shown(state: MadeOrder): PayOrder {
    return payOrder(state, this.now());
  }

  /** People that open pages are strangers to the key. */
  private count({ payer: { keyId }, address }: PageCall): void {
    this.budget.take(keyId, `${keyId}/${clientOf(address)}`);
  }

  private now(): number {
    return this.clock.now().getTime();
  }
}

function causeOf(path: string, requestId: string, merchantId: string, { keyId }: Payer): EventMetadata {
  return { actor: `POST /widget/api/${path}`, request_id: requestId, merchant_id: merchantId, key_id: keyId };
}

/** A request of a page: its ids follow from the page's own word for it, its response is made anew each time. */
class PageTicket implements IdempotencyTicket {
  constructor(
    private readonly scope: string,
    private readonly request: string,
  ) {}

  id(purpose: string, use = 0): string {
    return deriveId('pay page', this.scope, this.request, purpose, String(use));
  }

  response(): undefined {
    return undefined;
  }
}
