import { fileURLToPath } from 'node:url';
import { freePort } from '../../sandbox/processes.js';
import { ready } from './children.js';
import type { BenchEnvironment } from './environment.js';
import type { Credentials } from './sign.js';

/** The size of every compared pool: the service's default. */
const POOL_SIZE = 16;

/** Lets a program that uses `onRun` do its work once. */
export async function runOnce(baseUrl: string): Promise<void> {
  const response = await fetch(`${baseUrl}/run`, { method: 'POST' });
  if (!response.ok) throw new Error(await response.text());
}

interface BareOptions {
  readonly database?: string;
  /** The accepted caller. */
  readonly who?: Credentials;
  readonly env?: Readonly<Record<string, string>>;
  readonly readyPath?: string;
}

export async function startBare(
  environment: BenchEnvironment,
  program: string,
  { database = 'bare', who, env = {}, readyPath = '/health/ready' }: BareOptions,
): Promise<{ readonly baseUrl: string }> {
  const port = await freePort();
  const child = environment.children.start({
    name: program,
    args: ['--import', 'tsx', fileURLToPath(new URL(`../bare/${program}.ts`, import.meta.url))],
    dir: environment.folder('bare'),
    env: {
      DATABASE_URL: await environment.database(database),
      POOL_SIZE: String(POOL_SIZE),
      PORT: String(port),
      KEYS: JSON.stringify(who === undefined ? {} : { [who.apiKey]: who.privateKey }),
      ...env,
    },
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  await ready(child, `${baseUrl}${readyPath}`);
  return { baseUrl };
}
