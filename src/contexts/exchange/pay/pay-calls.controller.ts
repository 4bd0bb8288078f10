import { Get, Inject, Query, UseGuards } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { Fault } from '../../../kernel/fault.js';
import { deriveId } from '../../../kernel/ids.js';
import { Field } from '../../../platform/dto/field.js';
import { text } from '../../../platform/dto/rules.js';
import { toClient } from '../../../platform/http/rate-limit.guard.js';
import { UuidParam, ValidBody } from '../../../platform/http/decorators.js';
import { PageCall, PageController, Visit } from '../../../platform/http/pages/page.js';
import { Refusal } from '../../../platform/http/problem.js';
import { ExchangeProviders, readAmount } from '../providers/exchange-providers.service.js';
import { ActOnOrder, CreateOrder, ofPayer, OwnOrders } from '../orders/orders.commands.js';
import type { ExistingOrder } from '../orders/order.js';
import { countDecimals, pairOf } from '../tokens/catalog.js';
import { ProviderBudget } from '../orders/exchange-key.guard.js';
import { PAY_PAGE, payOrder, TestPayments } from './pay-page.controller.js';
import { PaySessions, PayerGuard, SESSION_ENDED, type PayVisitor } from './payer.guard.js';
import type { PageCalls, PayOrder, PayQuote } from './pay.dto.js';

type PayVisit = Visit<PayVisitor>;

class NewPayOrder implements Required<PageCalls['create']> {
  @Field(text({}, (id) => (pairOf(id) === null ? new Fault('is not a pair') : id))) pair_id!: string;
  @Field(text()) amount_from!: string;

  @Field(text({}, (id) => (/^[0-9a-f]{32}$/.test(id) ? id : new Fault('must be 32 hexadecimal digits'))))
  request_id!: string;
}

/** The calls of the pay widget, only for the payer of the session. */
@PageController(PAY_PAGE, 'widget/api')
@UseGuards(PayerGuard)
export class PayCallsController {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly orders: OwnOrders,
    private readonly providers: ExchangeProviders,
    private readonly sessions: PaySessions,
    private readonly budget: ProviderBudget,
    private readonly testPayments: TestPayments,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('quote')
  async quote(@Visit() visit: PayVisit, @Query() query: Record<string, unknown>): Promise<PayQuote> {
    this.begin(visit);
    return { ...(await this.providers.quote(visit.payer.key_id, query)), now: this.now() };
  }

  /** Creates an order. A payer's repeated `request_id` returns the same order (contract.md 26.2). */
  @PageCall('orders')
  async create(@Visit() visit: PayVisit, @ValidBody() body: NewPayOrder): Promise<PayOrder> {
    const { payer, merchant, ip, cause } = visit;
    const pair = pairOf(body.pair_id)!;
    const amountFrom = readAmount('amount_from', body.amount_from, countDecimals(pair.from));
    this.begin(visit);
    const { secret_hash, has_expired, ...requested } = payer;
    const caller = { caller_address: ip, client: toClient(ip), merchant_id: merchant.merchantId };
    const order = { ...requested, ...caller, pair_id: pair.id, amount_from: amountFrom };
    const seed = ['pay page', this.sessions.link(payer), body.request_id];
    // The '0' is part of the ids of existing orders, so it must stay.
    const ticket = { id: (purpose: string) => deriveId(...seed, purpose, '0'), response: () => undefined };
    return this.display(await this.commandBus.execute(new CreateOrder(order, null, ticket, cause)));
  }

  @Get('orders/:id')
  async order(@Visit() { payer }: PayVisit, @UuidParam('id', 'Order') id: string): Promise<PayOrder> {
    return this.display(await this.orders.load(ofPayer(payer, id)));
  }

  @PageCall('orders/:id/mark_as_paid')
  markAsPaid(@Visit() visit: PayVisit, @UuidParam('id', 'Order') id: string): Promise<PayOrder> {
    return this.act(visit, id, 'mark_as_paid');
  }

  @PageCall('orders/:id/cancel')
  cancel(@Visit() visit: PayVisit, @UuidParam('id', 'Order') id: string): Promise<PayOrder> {
    return this.act(visit, id, 'cancel');
  }

  @PageCall('orders/:id/test_payment')
  async payForTest(@Visit() { payer }: PayVisit, @UuidParam('id', 'Order') id: string): Promise<PayOrder> {
    const state = await this.orders.load(ofPayer(payer, id));
    await this.testPayments.pay(state);
    return this.display(state);
  }

  private async act(visit: PayVisit, orderId: string, kind: ActOnOrder['kind']): Promise<PayOrder> {
    this.takeBudget(visit);
    const { payer, cause } = visit;
    const command = new ActOnOrder(kind, ofPayer(payer, orderId), cause);
    return this.display(await this.commandBus.execute(command));
  }

  private begin(visit: PayVisit): void {
    if (visit.payer.has_expired) throw new Refusal(SESSION_ENDED);
    this.takeBudget(visit);
  }

  /** Counts the call for the client, because a visitor of a page is never the owner of the key. */
  private takeBudget({ payer: { key_id: keyId }, ip }: PayVisit): void {
    this.budget.take(keyId, `${keyId}/${toClient(ip)}`);
  }

  private display(state: ExistingOrder): PayOrder {
    return payOrder(state, this.now());
  }

  private now(): number {
    return this.clock.now().getTime();
  }
}
