import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Credentials } from '../../../../bench/support/sign.js';
import { Sandbox } from '../sandbox.js';
import { Worker } from '../webhooks/worker.js';
import { AnalyticsProvider } from './analytics.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const SETTINGS = {
  AMPLITUDE_API_KEY: 'chaos',
  ANALYTICS_EVENTS_PER_SECOND: '1000000',
  // A forwarder that was killed is replaced 15 s after its request may have ended.
  ANALYTICS_TIMEOUT_MS: '1000',
};

/** A service with all roles on a PostgreSQL of its own, a second worker beside it, and an analytics provider. */
export class EventsStage {
  private constructor(
    readonly service: Sandbox,
    readonly worker: Worker,
    readonly analytics: AnalyticsProvider,
    readonly merchants: readonly Credentials[],
  ) {}

  static async open(merchants: number): Promise<EventsStage> {
    const analytics = await AnalyticsProvider.start();
    const settings = { ...SETTINGS, AMPLITUDE_URL: analytics.url };
    const service = await Sandbox.create(settings);
    try {
      service.spawn();
      await service.ready();
      const worker = workerBeside(service, settings);
      await worker.spawn();
      await worker.ready();
      const { merchant, second_merchant: second } = service.file;
      const own = [merchant, second].map((each) => ({ apiKey: each.api_key, privateKey: each.private_key }));
      const more = Array.from({ length: Math.max(0, merchants - own.length) }, () => newMerchant(service));
      return new EventsStage(service, worker, analytics, [...own, ...more]);
    } catch (error) {
      await service.remove();
      await analytics.stop();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.worker.stop();
    await this.service.remove();
    await this.analytics.stop();
  }
}

function workerBeside(service: Sandbox, settings: Readonly<Record<string, string>>): Worker {
  const { chain } = service.file;
  const environment = {
    children: service.children,
    folder: (name: string) => join(service.dir, name),
    chain: () => Promise.resolve({ rpcUrl: chain.rpc_url, usdcAddress: chain.usdc_address }),
  };
  const { master_key } = JSON.parse(readFileSync(join(service.dir, 'secrets.json'), 'utf8')) as {
    master_key: string;
  };
  const env = { DATABASE_URL: service.databaseUrl, MASTER_KEY: master_key, ...settings };
  return new Worker(environment, 'worker', env);
}

/** By `npm run merchant`, as an operator does it. */
function newMerchant(service: Sandbox): Credentials {
  const { status, stdout, stderr } = spawnSync(
    'npm',
    ['run', '--silent', 'merchant', '--', '--json', 'create', '--name', 'Shop'],
    { cwd: ROOT, encoding: 'utf8', env: { ...process.env, DATA_DIR: service.dir }, timeout: 60_000 },
  );
  if (status !== 0) throw new Error(`no merchant: ${stdout}${stderr}`);
  const made = JSON.parse(stdout) as { merchant_id: string; private_key: string };
  return { apiKey: made.merchant_id, privateKey: made.private_key };
}
