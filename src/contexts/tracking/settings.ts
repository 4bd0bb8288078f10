import type { Config } from '../../platform/config/config.js';
import {
  ConfigError,
  anInteger,
  optional,
  pattern,
  setting,
  url,
  type SettingsOf,
} from '../../platform/config/settings.js';

export const TRACKING_SETTINGS = {
  trackingRawDays: setting(
    'TRACKING_RAW_DAYS',
    anInteger(1, 3650),
    14,
    'how long the bodies of event batches are kept, and longer while a batch is not finished.',
  ),
  trackingRetentionMonths: setting(
    'TRACKING_RETENTION_MONTHS',
    anInteger(1, 1200),
    25,
    'how long events are kept, and recognised when they are sent again.',
  ),
  amplitudeApiKey: optional(
    'AMPLITUDE_API_KEY',
    pattern(/^[!-~]{1,200}$/, 'an API key without spaces'),
    "the API key of the Amplitude project that gets merchants' events; without one they are kept and not passed on, in the sandbox to a table.",
    true,
  ),
  amplitudeUrl: setting(
    'AMPLITUDE_URL',
    url('http', 'https'),
    'https://api2.amplitude.com/2/httpapi',
    'where Amplitude takes events; https://api.eu.amplitude.com/2/httpapi in the EU. HTTPS in production.',
  ),
  analyticsEventsPerSecond: setting(
    'ANALYTICS_EVENTS_PER_SECOND',
    anInteger(1, 1_000_000),
    1000,
    'the most events per second that are passed on to the analytics provider, by all processes together.',
  ),
  analyticsTimeoutMs: setting(
    'ANALYTICS_TIMEOUT_MS',
    anInteger(100, 30_000),
    10_000,
    'how long the analytics provider may take to respond.',
  ),
};

declare module '../../platform/config/config.js' {
  interface Config extends SettingsOf<typeof TRACKING_SETTINGS> {}
}

/** The key travels in the body. */
export function checkTrackingSettings({ mode, amplitudeApiKey, amplitudeUrl }: Config): void {
  if (mode === 'production' && amplitudeApiKey !== null && !amplitudeUrl.startsWith('https://'))
    throw new ConfigError('AMPLITUDE_URL must begin with https:// in production.');
}
