export {
  SANDBOX_PROVIDER,
  TEST_MONEY,
  type ExchangeProvider,
  type NewProviderOrder,
  type ProviderReference,
  type ProviderStatus,
  type Settlement,
  type TestMoney,
} from './application/ports.js';
export type { DepositFacts, ProviderOrder, Quote } from './domain/order-events.js';
