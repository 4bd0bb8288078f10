import { Logger, Module, type OnModuleInit } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import { defineContext } from '../../platform/context.js';
import { provideSaga } from '../../platform/projections/subscription-registry.js';
import { WorkListCheck } from '../../platform/projections/table-check.js';
import { ResponseStore } from '../../platform/idempotency/response-store.js';
import { PersonalKeys } from '../../platform/sealing/personal-keys.js';
import { HealthRegistry } from '../../platform/telemetry/health.js';
import { ProcessFacts } from '../../platform/telemetry/process-facts.js';
import { ComplianceNotices } from './orders/compliance-notices.service.js';
import { SideShiftProvider } from './providers/sideshift.adapter.js';
import { Onramps, SANDBOX_ONRAMPS } from './providers/onramps.service.js';
import {
  ActOnOrderHandler,
  CreateOrderHandler,
  EndSandboxOrderHandler,
  OwnOrders,
} from './orders/orders.commands.js';
import { OPEN_ORDERS, OrderPoller, watchSaga, OrderWatchProcessor } from './watch/order-watch.processor.js';
import {
  EraseOrderUserHandler,
  erasingOrders,
  RecordRefundHandler,
} from './orders/order-operations.commands.js';
import { OrderTransfers } from './orders/order-transfers.service.js';
import { SANDBOX_PROVIDER, type ExchangeProvider } from './providers/exchange-provider.ports.js';
import { ExchangeProviders } from './providers/exchange-providers.service.js';
import { PERSONAL_FIELDS } from './orders/order-events.js';
import { acrossOrders, orderHistory } from './orders/history.js';
import { AdminOrdersController } from './orders/admin-orders.controller.js';
import { ConfigurationController } from './tokens/configuration.controller.js';
import {
  ExchangeKeyGuard,
  exchangeListScheme,
  exchangeScheme,
  ProviderBudget,
} from './orders/exchange-key.guard.js';
import {
  MerchantOrdersController,
  OrdersController,
  SandboxOrdersController,
} from './orders/orders.controller.js';
import { PayCallsController } from './pay/pay-calls.controller.js';
import { PayerGuard, PaySessions } from './pay/payer.guard.js';
import { IconsController, PayPageController, TestPayments } from './pay/pay-page.controller.js';
import { TokensController } from './tokens/tokens.controller.js';
import { Exchange1795000000901 } from './migrations/1795000000901-exchange.js';
import { ORDER_PUBLISHES } from './exchange.webhooks.js';
import { checkExchangeSettings, exchangeConfig, type ExchangeConfig } from './exchange.config.js';
import { OrdersView, orderViews } from './orders/orders.view.js';

const providers = [
  {
    provide: SideShiftProvider,
    inject: [exchangeConfig.KEY, CLOCK],
    useFactory: (config: ExchangeConfig, clock: Clock): SideShiftProvider | null => {
      const { sideshiftUrl, sideshiftSecret, sideshiftAffiliateId } = config;
      if (sideshiftSecret === null || sideshiftAffiliateId === null) return null;
      return new SideShiftProvider({ sideshiftUrl, sideshiftSecret, sideshiftAffiliateId }, clock);
    },
  },
  {
    provide: ExchangeProviders,
    // Add the injection token of a new provider here.
    inject: [exchangeConfig.KEY, { token: SANDBOX_PROVIDER, optional: true }, SideShiftProvider],
    useFactory: (config: ExchangeConfig, ...all: (ExchangeProvider | null | undefined)[]) =>
      new ExchangeProviders(
        all.filter((provider) => provider !== null && provider !== undefined),
        config.exchangeProvider ?? (config.mode === 'sandbox' ? 'sandbox' : null),
      ),
  },
  {
    provide: Onramps,
    inject: [exchangeConfig.KEY],
    useFactory: ({ exchangeOnrampsFile, mode }: ExchangeConfig) =>
      new Onramps(exchangeOnrampsFile ?? (mode === 'sandbox' ? SANDBOX_ONRAMPS : [])),
  },
];

/** Exchange orders, tokens, on-ramp configuration and the pay widget (contract.md 21 to 26). */
@Module({
  controllers: [
    OrdersController,
    MerchantOrdersController,
    AdminOrdersController,
    ConfigurationController,
    TokensController,
    IconsController,
    PayPageController,
    PayCallsController,
  ],
  providers: [
    ...providers,
    CreateOrderHandler,
    RecordRefundHandler,
    EraseOrderUserHandler,
    OrdersView,
    OrderTransfers,
    ActOnOrderHandler,
    OrderPoller,
    OrderWatchProcessor,
    ComplianceNotices,
    OwnOrders,
    ProviderBudget,
    PaySessions,
    TestPayments,
    PayerGuard,
    { provide: APP_GUARD, useClass: ExchangeKeyGuard },
    provideSaga([OrderWatchProcessor], watchSaga),
    provideSaga([PersonalKeys, ResponseStore], erasingOrders),
  ],
})
class ExchangeModule implements OnModuleInit {
  constructor(
    private readonly health: HealthRegistry,
    private readonly exchangeProviders: ExchangeProviders,
    private readonly facts: ProcessFacts,
  ) {}

  onModuleInit(): void {
    this.health.register({ name: 'exchange', check: () => this.exchangeProviders.check() });
    this.facts.register('providers', () => [this.exchangeProviders.facts()]);
    if (!this.exchangeProviders.isConfigured)
      new Logger(ExchangeModule.name).warn('exchange orders are disabled: EXCHANGE_PROVIDER is not set');
  }
}

export const exchange = defineContext({
  name: 'exchange',
  module: ({ mode }) => ({
    module: ExchangeModule,
    ...(mode === 'sandbox' && {
      controllers: [SandboxOrdersController],
      providers: [EndSandboxOrderHandler],
    }),
  }),
  histories: [orderHistory],
  logRules: [acrossOrders],
  checks: [{ name: OPEN_ORDERS.name, of: (tables) => new WorkListCheck(OPEN_ORDERS, tables) }],
  sealed: { 'order.created.v1': { fields: PERSONAL_FIELDS, subject: 'order_id' } },
  erases: { 'order.personal_data_erased.v1': 'order_id' },
  readModels: [orderViews],
  document: {
    tags: {
      'Exchange orders': [6, 'Orders that exchange what is deposited, and pay out to an address.'],
      Exchange: [7, 'What can be exchanged, and links to the pay widget.'],
      'Admin: orders': [25, 'Orders of all merchants, and the refunds that operators record.'],
    },
    schemes: [exchangeListScheme, exchangeScheme],
  },
  programs: { exchange: async () => (await import('./orders/exchange.program.js')).exchangeProgram },
  publishes: ORDER_PUBLISHES,
  config: exchangeConfig,
  checkSettings: checkExchangeSettings,
  migrations: [Exchange1795000000901],
});
