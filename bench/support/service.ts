import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SandboxFile } from '../../sandbox/announce.js';
import { freePort, until } from '../../sandbox/processes.js';
import { ready, type Child } from './children.js';
import type { BenchEnvironment } from './environment.js';
import type { Credentials } from './sign.js';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface Service {
  readonly baseUrl: string;
  readonly child: Child;
  readonly merchant: Credentials;
  readonly secondMerchant: Credentials;
  /** Keys of the first merchant for the exchange. */
  readonly exchange: SandboxFile['exchange'];
}

export interface ServiceOptions {
  /** Name of its folder and, when not told otherwise, of its database. */
  readonly name: string;
  readonly database?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of `node` before the program, such as --cpu-prof. */
  readonly nodeArgs?: readonly string[];
}

/** The service as it is deployed (`node dist/main.js`, all roles), on a database of the bench's PostgreSQL. */
export async function startService(environment: BenchEnvironment, options: ServiceOptions): Promise<Service> {
  const { child, port, dir } = await spawnService(environment, options);
  const baseUrl = `http://127.0.0.1:${port}`;
  await ready(child, `${baseUrl}/health/ready`);
  // Written last, after the merchants were registered.
  const file = join(dir, 'sandbox.json');
  if (!(await until(() => existsSync(file), 10_000))) throw new Error(`${file} was not written`);
  const sandbox = JSON.parse(readFileSync(file, 'utf8')) as SandboxFile;
  return {
    baseUrl,
    child,
    merchant: credentials(sandbox.merchant),
    secondMerchant: credentials(sandbox.second_merchant),
    exchange: sandbox.exchange,
  };
}

/** Starts the process and does not wait for it. */
export async function spawnService(
  environment: BenchEnvironment,
  options: ServiceOptions,
): Promise<{ child: Child; port: number; metricsPort: number; dir: string }> {
  if (!existsSync(MAIN)) throw new Error('dist/main.js is missing: run npm run build');
  const dir = environment.folder(options.name);
  const chain = await environment.chain();
  const [port, widgetPort, payPort, metricsPort] = await Promise.all([1, 2, 3, 4].map(() => freePort()));
  const child = environment.children.start({
    name: 'service',
    args: [...(options.nodeArgs ?? []), MAIN],
    dir,
    env: {
      MODE: 'sandbox',
      DATA_DIR: dir,
      DATABASE_URL: await environment.database(options.database ?? options.name),
      CHAIN_RPC_URL: chain.rpcUrl,
      USDC_ADDRESS: chain.usdcAddress,
      PORT: String(port),
      WIDGET_PORT: String(widgetPort),
      PAY_PORT: String(payPort),
      METRICS_PORT: String(metricsPort),
      RATE_LIMIT_PER_MINUTE: '10000000',
      RATE_LIMIT_PER_IP_PER_MINUTE: '100000000',
      LOG_FILE: join(dir, 'service.json.log'),
      ...options.env,
    },
  });
  return { child, port: port!, metricsPort: metricsPort!, dir };
}

function credentials(merchant: SandboxFile['merchant']): Credentials {
  return { apiKey: merchant.api_key, privateKey: merchant.private_key };
}
