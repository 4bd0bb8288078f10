import type { MigrationInterface } from 'typeorm';
import { Merchants1764000000200 } from './merchants/migrations/1764000000200-merchants.js';
import { Onboarding1764000000400 } from './onboarding/migrations/1764000000400-onboarding.js';
import { RateLimits1764000000100 } from './platform/http/migrations/1764000000100-rate-limits.js';
import { Users1764000000300 } from './users/migrations/1764000000300-users.js';

/** Every migration of every context, listed explicitly: what is not here does not run. TypeORM orders them by timestamp. */
export const MIGRATIONS: readonly (new () => MigrationInterface)[] = [
  RateLimits1764000000100,
  Merchants1764000000200,
  Users1764000000300,
  Onboarding1764000000400,
];
