import { cidrs } from '../../platform/config/cidrs.js';
import {
  ConfigError,
  anInteger,
  optional,
  seconds,
  setting,
  defineConfig,
} from '../../platform/config/settings.js';

export const webhooksConfig = defineConfig('webhooks', {
  webhookRetryScheduleSeconds: setting(
    seconds,
    [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400],
    'the delays after the first attempt of a delivery.',
  ),
  webhookTimeoutMs: setting(anInteger(100, 30_000), 30_000, 'how long a receiver may take to respond.'),
  webhookDisableFailures: setting(
    anInteger(1, 1000),
    50,
    'failed attempts after which a webhook endpoint is disabled.',
  ),
  webhookDisableWindowSeconds: setting(
    anInteger(1, 604_800),
    21_600,
    'the sliding window in which these failed attempts are counted.',
  ),
  webhookDisableSpanSeconds: setting(
    anInteger(0, 604_800),
    1800,
    'how far apart the first and the last of them must be at least.',
  ),
  webhookRetentionDays: setting(
    anInteger(0, 36_500),
    90,
    'how long finished webhook deliveries and their attempts are kept; 0 keeps them all.',
  ),
  webhookAllowCidrs: optional(
    cidrs,
    'the address ranges that webhook receivers may have besides public ones; no metadata address but as /32 or /128.',
  ),
});

export type WebhooksConfig = ReturnType<typeof webhooksConfig>;

/** Throws ConfigError for a span longer than the window, because no endpoint would ever be disabled. */
export function checkWebhookSettings(config: WebhooksConfig): void {
  const { webhookDisableSpanSeconds: span, webhookDisableWindowSeconds: window } = config;
  if (span > window) {
    throw new ConfigError(
      `WEBHOOK_DISABLE_SPAN_SECONDS (${span}) must be no larger than WEBHOOK_DISABLE_WINDOW_SECONDS (${window}): failures so far apart are never counted together.`,
    );
  }
}
