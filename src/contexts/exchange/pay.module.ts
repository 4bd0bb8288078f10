import { Module } from '@nestjs/common';
import { PayerOrders } from './application/payer.js';
import { Quotes } from './application/quotes.js';
import { OrderStreams } from './http/pay/order-streams.js';
import { PayCallsController } from './http/pay/pay-calls.controller.js';
import { PayLinks } from './http/pay/pay-links.js';
import { PayPageController } from './http/pay/pay-page.controller.js';
import { PaySessions } from './http/pay/pay-sessions.js';
import { PayerGuard } from './http/pay/payer-guard.js';
import { TestPayments } from './http/pay/test-payments.js';
import { OrdersModule } from './orders.module.js';
import { ProvidersModule } from './providers.module.js';
import { OrderChanges } from './views/order-changes.js';

/** The pay widget: its page and the calls of the page. */
@Module({
  imports: [OrdersModule, ProvidersModule],
  controllers: [PayPageController, PayCallsController],
  providers: [
    PayerOrders,
    Quotes,
    OrderChanges,
    {
      provide: OrderStreams,
      useFactory: (changes: OrderChanges) => new OrderStreams(changes),
      inject: [OrderChanges],
    },
    PaySessions,
    TestPayments,
    PayLinks,
    PayerGuard,
  ],
})
export class PayModule {}
