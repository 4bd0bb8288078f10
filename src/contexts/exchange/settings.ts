import type { Config } from '../../platform/config/config.js';
import { ConfigError, oneOf, optional, type SettingsOf } from '../../platform/config/settings.js';

/** Where new orders go. */
const PROVIDER_SETTINGS = {
  exchangeProvider: optional(
    'EXCHANGE_PROVIDER',
    oneOf('sandbox'),
    'the provider that new exchange orders go to; in production there is none when not set, and no order can be made.',
  ),
};

export const EXCHANGE_SETTINGS = { ...PROVIDER_SETTINGS };

declare module '../../platform/config/config.js' {
  interface Config extends SettingsOf<typeof EXCHANGE_SETTINGS> {}
}

export function checkExchangeSettings({ mode, exchangeProvider }: Config): void {
  if (mode === 'production' && exchangeProvider === 'sandbox')
    throw new ConfigError('EXCHANGE_PROVIDER must not be sandbox in production: it moves no real money.');
}
