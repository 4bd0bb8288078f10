import type { ServerUser } from './server-user.js';

/** The one role of the embedded server: its superuser. */
export const POSTGRES_USER = 'disburse';

export interface PostgresOptions {
  /** Folder of the server: `data`, `postgres.log`. Created when missing. */
  readonly dir: string;
  /** Folder with `bin`, `lib` and `share`. */
  readonly home: string;
  readonly password: string;
  /** The port it had the last time; another one is taken when somebody else has it now. */
  readonly port?: number | null;
  /** False only in tests: no fsync. */
  readonly durable: boolean;
  readonly user: ServerUser | null;
}
