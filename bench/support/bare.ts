import { fileURLToPath } from 'node:url';
import { freePort } from '../../sandbox/processes.js';
import { ready, type Child } from './children.js';
import type { BenchEnvironment } from './environment.js';
import type { Credentials } from './sign.js';

/** Connections of every pool that is compared with the service's: its own default. */
export const POOL_SIZE = 16;

export interface BareServer {
  readonly baseUrl: string;
  readonly child: Child;
}

/** Starts a program of bench/bare on a database and waits until it responds. */
export async function startBare(
  environment: BenchEnvironment,
  program: string,
  database: string,
  who: Credentials,
): Promise<BareServer> {
  const port = await freePort();
  const child = environment.children.start({
    name: program,
    args: ['--import', 'tsx', fileURLToPath(new URL(`../bare/${program}.ts`, import.meta.url))],
    dir: environment.folder('bare'),
    env: {
      DATABASE_URL: await environment.database(database),
      POOL_SIZE: String(POOL_SIZE),
      PORT: String(port),
      KEYS: JSON.stringify({ [who.apiKey]: who.privateKey }),
    },
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  await ready(child, `${baseUrl}/health/ready`);
  return { baseUrl, child };
}
