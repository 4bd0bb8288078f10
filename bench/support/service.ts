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
  /** Exchange keys of the first merchant. */
  readonly exchange: SandboxFile['exchange'];
}

export interface ServiceOptions {
  /** Name of its folder and, unless `database` is given, of its database. */
  readonly name: string;
  readonly database?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The program, unless it is that of this build. */
  readonly main?: string;
  /** The command that runs `node` with these arguments, unless it is `node` itself. */
  readonly wrap?: (argv: readonly string[]) => { readonly command: string; readonly args: readonly string[] };
}

/** A started service process, which may not be ready. */
export interface SpawnedService {
  readonly child: Child;
  readonly dir: string;
  readonly port: number;
  readonly widgetPort: number;
  readonly adminPort: number;
  readonly portalPort: number;
  /** Returns 200 once the process works. */
  readonly readyUrl: string;
}

/** The service as deployed (`node dist/main.js`, all roles), on a database of the bench's PostgreSQL. */
export async function startService(host: BenchEnvironment, options: ServiceOptions): Promise<Service> {
  const { child, port, dir, readyUrl } = await spawnService(host, options);
  await ready(child, readyUrl);
  // Written last, after the merchants were registered.
  const file = join(dir, 'sandbox.json');
  if (!(await until(() => existsSync(file), 10_000))) throw new Error(`${file} was not written`);
  const sandbox = JSON.parse(readFileSync(file, 'utf8')) as SandboxFile;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    child,
    merchant: credentials(sandbox.merchant),
    secondMerchant: credentials(sandbox.second_merchant),
    exchange: sandbox.exchange,
  };
}

/** The environment of operators' programs for the service of that name and database. */
export async function operatorEnv(
  host: BenchEnvironment,
  name: string,
): Promise<{ readonly DATABASE_URL: string; readonly MASTER_KEY: string }> {
  const secrets = readFileSync(join(host.folder(name), 'secrets.json'), 'utf8');
  const { master_key: MASTER_KEY } = JSON.parse(secrets) as { master_key: string };
  return { DATABASE_URL: await host.database(name), MASTER_KEY };
}

/** Starts the process without waiting for it. */
export async function spawnService(host: BenchEnvironment, options: ServiceOptions): Promise<SpawnedService> {
  const { name, database = name, env = {}, main = MAIN, wrap } = options;
  if (!existsSync(main)) throw new Error(`${main} is missing: run npm run build`);
  const dir = host.folder(name);
  const chain = await host.chain();
  const [free, widgetPort, payPort, freeMetrics, adminPort, portalPort] = await Promise.all(
    [1, 2, 3, 4, 5, 6].map(() => freePort()),
  );
  const port = Number(env['PORT'] ?? free);
  const metricsPort = Number(env['METRICS_PORT'] ?? freeMetrics);
  const child = host.children.start({
    name: 'service',
    ...(wrap === undefined ? { args: [main] } : wrap([process.execPath, main])),
    dir,
    env: {
      MODE: 'sandbox',
      DATA_DIR: dir,
      DATABASE_URL: await host.database(database),
      CHAIN_RPC_URL: chain.rpcUrl,
      USDC_ADDRESS: chain.usdcAddress,
      PORT: String(port),
      WIDGET_PORT: String(widgetPort),
      PAY_PORT: String(payPort),
      ADMIN_PORT: String(adminPort),
      PORTAL_PORT: String(portalPort),
      METRICS_PORT: String(metricsPort),
      RATE_LIMIT_PER_MINUTE: '10000000',
      RATE_LIMIT_PER_IP_PER_MINUTE: '100000000',
      LOG_FILE: join(dir, 'service.json.log'),
      ...env,
    },
  });
  const servesApi = (env['ROLES'] ?? 'api').includes('api');
  const readyUrl = servesApi
    ? `http://127.0.0.1:${port}/health/ready`
    : `http://127.0.0.1:${metricsPort}/metrics`;
  return {
    child,
    dir,
    port,
    widgetPort: widgetPort!,
    adminPort: adminPort!,
    portalPort: portalPort!,
    readyUrl,
  };
}

export function credentials(merchant: SandboxFile['merchant']): Credentials {
  return { apiKey: merchant.api_key, privateKey: merchant.private_key };
}
