/** Every migration of every context, listed explicitly: what is not here does not run. TypeORM orders them by timestamp. */
export const MIGRATIONS = [] as const;
