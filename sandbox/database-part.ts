import type { Config } from '../src/composition.js';
import { placePostgres } from './postgres-place.js';
import { ensureDatabase, startPostgres } from './postgres.js';
import type { SecretsFile } from './secrets.js';
import { serverUser } from './server-user.js';
import type { Supervisor } from './supervisor.js';

const DATABASE = 'disburse';

const NOTES = { created: 'new', restarted: 'restored', adopted: 'still running, adopted' } as const;

export interface DatabasePart {
  readonly url: string;
  readonly note: string;
  stop(): Promise<void>;
}

/** Prepares the database of the sandbox: its own PostgreSQL, or the one that DATABASE_URL names. */
export async function prepareDatabase(
  config: Config,
  dataDir: string,
  secrets: SecretsFile,
  supervisor: Supervisor,
): Promise<DatabasePart> {
  if (config.databaseUrl !== null) {
    return { url: config.databaseUrl, note: 'the one of DATABASE_URL', stop: async () => undefined };
  }
  const user = serverUser();
  const options = {
    ...(await placePostgres(dataDir, user)),
    password: secrets.current.postgres_password,
    durable: true,
    user,
  };
  const started = await startPostgres({ ...options, port: secrets.current.postgres_port });
  const { port } = started;
  secrets.remember({ postgres_port: port });
  const server = supervisor.watch('PostgreSQL', started, () => startPostgres({ ...options, port }));
  await ensureDatabase(started, DATABASE);
  return {
    url: started.url(DATABASE),
    note: NOTES[started.origin],
    stop: async () => {
      // The supervisor would restart it otherwise.
      await supervisor.stop();
      await server().stop();
    },
  };
}
