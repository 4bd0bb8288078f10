import { Module } from '@nestjs/common';
import { PayerOrders } from './application/payer.js';
import { Quotes } from './application/quotes.js';
import { PayGate } from './http/pay/gate.js';
import { PayOpening } from './http/pay/opening.js';
import { PayCalls } from './http/pay/pay-calls.js';
import { PayFactsOf } from './http/pay/page-facts.js';
import { PayServer } from './http/pay/pay-server.js';
import { PaySessions } from './http/pay/sessions.js';
import { TestPayments } from './http/pay/test-payments.js';
import { OrdersModule } from './orders.module.js';
import { ProvidersModule } from './providers.module.js';
import { OrderChanges } from './views/order-changes.js';

/** The pay widget: a page of its own listener, and the calls it makes. */
@Module({
  imports: [OrdersModule, ProvidersModule],
  providers: [
    PayerOrders,
    Quotes,
    OrderChanges,
    PaySessions,
    TestPayments,
    PayOpening,
    PayGate,
    PayFactsOf,
    PayCalls,
    PayServer,
  ],
})
export class PayModule {}
