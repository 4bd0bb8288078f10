import type { MigrationInterface } from 'typeorm';
import { EventStore1764000000000 } from './platform/event-store/postgres/migrations/1764000000000-event-store.js';
import { PassingTypes1764000000010 } from './platform/event-store/postgres/migrations/1764000000010-passing-types.js';
import { LogIdentity1764000000030 } from './platform/event-store/postgres/migrations/1764000000030-log-identity.js';
import { Snapshots1764000000020 } from './platform/event-store/postgres/migrations/1764000000020-snapshots.js';
import { Merchants1764000000200 } from './contexts/merchants/migrations/1764000000200-merchants.js';
import { Onboarding1764000000400 } from './contexts/onboarding/migrations/1764000000400-onboarding.js';
import { PhoneCodeLimits1764000000410 } from './contexts/onboarding/migrations/1764000000410-phone-code-limits.js';
import { RateLimits1764000000100 } from './platform/http/migrations/1764000000100-rate-limits.js';
import { KeyRing1764000000120 } from './platform/sealing/migrations/1764000000120-key-ring.js';
import { PersonalKeys1764000000110 } from './platform/sealing/migrations/1764000000110-personal-keys.js';
import { PayoutLines1764000000510 } from './contexts/payouts/migrations/1764000000510-payout-lines.js';
import { PayoutTurnsIndex1764000000521 } from './contexts/payouts/migrations/1764000000521-payout-turns-index.js';
import { PayoutTurns1764000000520 } from './contexts/payouts/migrations/1764000000520-payout-turns.js';
import { Payouts1764000000500 } from './contexts/payouts/migrations/1764000000500-payouts.js';
import { Forwarding1764000000720 } from './contexts/tracking/migrations/1764000000720-forwarding.js';
import { Tracking1764000000700 } from './contexts/tracking/migrations/1764000000700-tracking.js';
import { WalletsByAddress1764000000310 } from './contexts/users/migrations/1764000000310-wallets-by-address.js';
import { PayoutIntents1764000000320 } from './contexts/users/migrations/1764000000320-payout-intents.js';
import { Users1764000000300 } from './contexts/users/migrations/1764000000300-users.js';
import { WebhookCare1764000000610 } from './contexts/webhooks/migrations/1764000000610-webhook-care.js';
import { WebhookRounds1764000000630 } from './contexts/webhooks/migrations/1764000000630-webhook-rounds.js';
import { LaneChanges1764000000640 } from './contexts/webhooks/migrations/1764000000640-lane-changes.js';
import { OneIndexOfDue1764000000650 } from './contexts/webhooks/migrations/1764000000650-one-index-of-due.js';
import { RecoveryIndexes1764000000660 } from './contexts/webhooks/migrations/1764000000660-recovery-indexes.js';
import { GoneAnswers1764000000661 } from './contexts/webhooks/migrations/1764000000661-gone-answers.js';
import { Webhooks1764000000600 } from './contexts/webhooks/migrations/1764000000600-webhooks.js';

/** Every migration of every context, listed explicitly: what is not here does not run. TypeORM orders them by timestamp. */
export const MIGRATIONS: readonly (new () => MigrationInterface)[] = [
  EventStore1764000000000,
  Snapshots1764000000020,
  LogIdentity1764000000030,
  PersonalKeys1764000000110,
  KeyRing1764000000120,
  RateLimits1764000000100,
  Merchants1764000000200,
  Users1764000000300,
  WalletsByAddress1764000000310,
  PayoutIntents1764000000320,
  Onboarding1764000000400,
  PhoneCodeLimits1764000000410,
  Payouts1764000000500,
  PayoutLines1764000000510,
  PayoutTurns1764000000520,
  PayoutTurnsIndex1764000000521,
  Webhooks1764000000600,
  WebhookCare1764000000610,
  WebhookRounds1764000000630,
  LaneChanges1764000000640,
  Tracking1764000000700,
  Forwarding1764000000720,
  OneIndexOfDue1764000000650,
  RecoveryIndexes1764000000660,
  GoneAnswers1764000000661,
  PassingTypes1764000000010,
];
