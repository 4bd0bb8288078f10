import type { Config } from '../../platform/config/config.js';
import {
  ConfigError,
  integer,
  oneOf,
  optional,
  setting,
  type SettingsOf,
} from '../../platform/config/settings.js';

/** Where new orders go. */
const PROVIDER_SETTINGS = {
  exchangeProvider: optional(
    'EXCHANGE_PROVIDER',
    oneOf('sandbox'),
    'the provider that new exchange orders go to; in production there is none when not set, and no order can be made.',
  ),
};

/** How long an order waits, and how often it is looked at. */
const ORDER_SETTINGS = {
  exchangeOrderExpirySeconds: setting(
    'EXCHANGE_ORDER_EXPIRY_SECONDS',
    integer(1, 604_800),
    3600,
    'how long an exchange order waits for its deposit; less when the provider holds the quote for less.',
  ),
  exchangePaidWaitSeconds: setting(
    'EXCHANGE_PAID_WAIT_SECONDS',
    integer(1, 2_592_000),
    86_400,
    'how long an exchange order that was marked as paid waits for its deposit.',
  ),
  exchangeCheckIntervalMs: setting(
    'EXCHANGE_CHECK_INTERVAL_MS',
    integer(50, 3_600_000),
    1000,
    'how often a fresh exchange order is looked up at its provider, in milliseconds; older ones more rarely.',
  ),
};

export const EXCHANGE_SETTINGS = { ...PROVIDER_SETTINGS, ...ORDER_SETTINGS };

declare module '../../platform/config/config.js' {
  interface Config extends SettingsOf<typeof EXCHANGE_SETTINGS> {}
}

export function checkExchangeSettings({ mode, exchangeProvider }: Config): void {
  if (mode === 'production' && exchangeProvider === 'sandbox')
    throw new ConfigError('EXCHANGE_PROVIDER must not be sandbox in production: it moves no real money.');
}
