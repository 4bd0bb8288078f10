export {
  SANDBOX_PROVIDER,
  TEST_MONEY,
  type ExchangeProvider,
  type NewProviderOrder,
  type ProviderReference,
  type ProviderStatus,
  type Settlement,
  type TestMoney,
} from './providers/exchange-provider.ports.js';
export type { DepositFacts, ProviderOrder, Quote } from './orders/order-events.js';
