import type { MigrationInterface } from 'typeorm';

/** Every migration of every context, listed explicitly: what is not here does not run. TypeORM orders them by timestamp. */
export const MIGRATIONS: readonly (new () => MigrationInterface)[] = [];
