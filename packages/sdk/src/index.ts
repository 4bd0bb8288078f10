export { DisburseExchange, type ExchangeOptions, type OrderReference } from './exchange-client.js';
export * from './errors.js';
export { Disburse, type MerchantOptions } from './merchant-client.js';
export { Pages } from './pages.js';
export type { ExpectedPayout, Period, Reconciliation } from './reconcile.js';
export { idempotencyKeyOf, signAddress, signQuery } from './signing.js';
export type { RetryOptions } from './transport.js';
export type * from './types.js';
export { verifyWebhook, WebhookError } from './webhooks.js';
