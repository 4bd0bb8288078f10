import { Merchants1764000000200 } from './contexts/merchants/migrations/1764000000200-merchants.js';
import { Onboarding1764000000410 } from './contexts/onboarding/migrations/1764000000410-onboarding.js';
import { Payouts1764000000521 } from './contexts/payouts/migrations/1764000000521-payouts.js';
import { Tracking1764000000720 } from './contexts/tracking/migrations/1764000000720-tracking.js';
import { Users1764000000320 } from './contexts/users/migrations/1764000000320-users.js';
import { Webhooks1764000000661 } from './contexts/webhooks/migrations/1764000000661-webhooks.js';
import { EventStore1764000000030 } from './platform/event-store/postgres/migrations/1764000000030-event-store.js';
import { RateLimits1764000000100 } from './platform/http/migrations/1764000000100-rate-limits.js';
import type { Migration } from './platform/postgres/migrate.js';
import { Sealing1764000000120 } from './platform/sealing/migrations/1764000000120-sealing.js';

/** Every migration of every context, listed explicitly: what is not here does not run. TypeORM orders them by timestamp. */
export const MIGRATIONS: readonly Migration[] = [
  EventStore1764000000030,
  RateLimits1764000000100,
  Sealing1764000000120,
  Merchants1764000000200,
  Users1764000000320,
  Onboarding1764000000410,
  Payouts1764000000521,
  Webhooks1764000000661,
  Tracking1764000000720,
];
