import { Module } from '@nestjs/common';
import type { Get } from '../../platform/context.js';
import { ClockCheck } from '../../platform/postgres/clock-check.js';
import type { SubscriptionDefinition } from '../../platform/projections/projection.js';
import { ChainOrderTransfers } from './adapters/order-transfers.js';
import { CancelOrderHandler } from './application/cancel-order.js';
import { EraseOrderHandler } from './application/erase-order.js';
import { CreateOrderHandler } from './application/create-order.js';
import { erasingOrders } from './application/erasing-saga.js';
import { MarkOrderAsPaidHandler } from './application/mark-order-as-paid.js';
import { OrderLog } from './application/order-log.js';
import { OrderLook } from './application/order-look.js';
import { OrderWatcher } from './application/order-watcher.js';
import { ORDER_TRANSFERS } from './application/ports.js';
import { ProviderCalls } from './application/provider-calls.js';
import { RecordRefundHandler } from './application/record-refund.js';
import { RefreshOrderHandler } from './application/refresh-order.js';
import { WatchGauge } from './application/watch-gauge.js';
import { watchSaga } from './application/watch-saga.js';
import { ProvidersModule } from './providers.module.js';
import { Watches } from './store/watches.js';
import { OrdersView } from './views/orders.js';

/** What operators do with orders: separate, because they need it without the rest. */
@Module({
  providers: [
    RecordRefundHandler,
    EraseOrderHandler,
    OrdersView,
    Watches,
    { provide: ORDER_TRANSFERS, useClass: ChainOrderTransfers },
  ],
  exports: [OrdersView, Watches],
})
export class OperatedOrdersModule {}

/** Orders: made, acted on, and watched at their providers until nothing more can become of them. */
@Module({
  imports: [ProvidersModule, OperatedOrdersModule],
  providers: [
    CreateOrderHandler,
    MarkOrderAsPaidHandler,
    CancelOrderHandler,
    RefreshOrderHandler,
    ProviderCalls,
    OrderLook,
    OrderLog,
    OrderWatcher,
    WatchGauge,
    ClockCheck,
  ],
  exports: [ProviderCalls],
})
export class OrdersModule {
  static subscriptions(get: Get): readonly SubscriptionDefinition[] {
    return [
      watchSaga((events) => {
        get(OrderLog).tell(events);
        get(OrderWatcher).work.wake();
      }),
      erasingOrders(get),
    ];
  }
}
