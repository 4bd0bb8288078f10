import type { Config } from '../src/platform/config/config.js';
import { placePostgres } from './postgres-place.js';
import { ensureDatabase, startPostgres, type RunningPostgres } from './postgres.js';
import { SandboxError } from './sandbox-error.js';
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

/** The database of the sandbox: its own PostgreSQL, or the one that DATABASE_URL names. */
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
  let server = await startPostgres({ ...options, port: secrets.current.postgres_port });
  const { port } = server;
  secrets.remember({ postgres_port: port });
  supervisor.watch('PostgreSQL', server.pid, async () => {
    server = await startPostgres({ ...options, port });
    // The service has the URL with this port: on another one it would never find its database again.
    if (server.port !== port) await giveUp(server, port);
    return server;
  });
  await ensureDatabase(server, DATABASE);
  return {
    url: server.url(DATABASE),
    note: NOTES[server.origin],
    stop: async () => {
      // Or it would be started again at once.
      await supervisor.stop();
      await server.stop();
    },
  };
}

async function giveUp(server: RunningPostgres, port: number): Promise<never> {
  await server.stop();
  throw new SandboxError(`another program has taken its port ${port}`);
}
