import type { ProcessConfig } from '../../../platform/config/config.js';
import type { Database } from '../../../platform/postgres/database.js';
import type { Analytics, AnalyticsEvent, SendResult } from '../application/ports.js';
import type { TrackingConfig } from '../settings.js';
import { eventJson, Amplitude } from './amplitude.js';

/** The analytics provider of the sandbox: writes events to `tracking.sandbox_analytics`. */
export class SandboxAnalytics implements Analytics {
  readonly name = 'the table of the sandbox';
  readonly limits = { events: 1000, bytes: 1_000_000 };

  constructor(
    { mode }: ProcessConfig,
    private readonly database: Database,
  ) {
    if (mode === 'production') throw new Error('the sandbox analytics provider does not start in production');
  }

  async send(events: readonly AnalyticsEvent[]): Promise<SendResult> {
    try {
      // Two merchants may have used one event_id.
      await this.database.query(
        `insert into tracking.sandbox_analytics as known (insert_id, event, times)
         select insert_id, (array_agg(event))[1]::json, count(*)
         from unnest($1::uuid[], $2::text[]) as sent (insert_id, event) group by insert_id
         on conflict (insert_id) do update set times = known.times + excluded.times`,
        [events.map(({ insertId }) => insertId), events.map(eventJson)],
      );
      return { outcome: 'accepted' };
    } catch (error) {
      return {
        outcome: 'unavailable',
        cause: 'failing',
        detail: (error as Error).message,
        retryAfterMs: null,
      };
    }
  }
}

/** Amplitude when it has a key, else the sandbox's own provider in the sandbox, else none. */
export function configuredAnalytics(config: TrackingConfig, database: Database): Analytics | null {
  const { amplitudeApiKey, mode } = config;
  if (amplitudeApiKey !== null) return new Amplitude({ ...config, amplitudeApiKey });
  return mode === 'sandbox' ? new SandboxAnalytics(config, database) : null;
}
