import {
  ConfigError,
  anInteger,
  optional,
  pattern,
  setting,
  url,
  defineConfig,
} from '../../platform/config/settings.js';

export const trackingConfig = defineConfig('tracking', {
  trackingRawDays: setting(
    anInteger(1, 3650),
    14,
    'how long the bodies of event batches are kept, and longer while a batch is not finished.',
  ),
  trackingRetentionMonths: setting(
    anInteger(1, 1200),
    25,
    'how long events are kept, and recognised when they are sent again.',
  ),
  amplitudeApiKey: optional(
    pattern(/^[!-~]{1,200}$/, 'an API key without spaces'),
    "the API key of the Amplitude project that gets merchants' events; without one they are kept and not passed on.",
    'secret',
  ),
  amplitudeUrl: setting(
    url('http', 'https'),
    'https://api2.amplitude.com/2/httpapi',
    'where Amplitude takes events; https://api.eu.amplitude.com/2/httpapi in the EU. HTTPS in production.',
  ),
  analyticsEventsPerSecond: setting(
    anInteger(1, 1_000_000),
    1000,
    'the most events per second that are passed on to the analytics provider, by all processes together.',
  ),
  analyticsTimeoutMs: setting(
    anInteger(100, 30_000),
    10_000,
    'how long the analytics provider may take to respond.',
  ),
});

export type TrackingConfig = ReturnType<typeof trackingConfig>;

/** Throws ConfigError for plain HTTP in production, because each request body contains the API key. */
export function checkTrackingSettings({ mode, amplitudeApiKey, amplitudeUrl }: TrackingConfig): void {
  if (mode === 'production' && amplitudeApiKey !== null && !amplitudeUrl.startsWith('https://'))
    throw new ConfigError('AMPLITUDE_URL must begin with https:// in production.');
}
