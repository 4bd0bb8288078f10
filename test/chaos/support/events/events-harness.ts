import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { credentials } from '../../../../bench/support/service.js';
import type { Credentials } from '../../../../bench/support/sign.js';
import { TestReceiver } from '../../../support/webhooks/receiver.js';
import { Sandbox } from '../sandbox.js';
import type { ServiceProcess } from '../service-process.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
/** One request of the forwarder in so many fails, before the events are accepted or after. */
const FAILING = 0.02;

/** A service with all roles on its own PostgreSQL, a second worker, and an analytics provider with Amplitude's HTTP API. */
export class EventsHarness {
  /** `<merchant id> <insert_id>` of each forwarded event, and how often it came. */
  readonly forwarded = new Map<string, number>();
  forwardRequests = 0;

  private constructor(
    readonly service: Sandbox,
    readonly worker: ServiceProcess,
    readonly merchants: readonly Credentials[],
    private readonly provider: TestReceiver,
  ) {
    provider.behavior = (response, { body }) => {
      this.forwardRequests += 1;
      const { events } = JSON.parse(body) as { events: { user_id: string; insert_id: string }[] };
      const chance = Math.random();
      if (chance < FAILING / 2) return void response.writeHead(503).end();
      for (const { user_id, insert_id } of events) {
        const key = `${user_id.split(':')[0]!} ${insert_id}`;
        this.forwarded.set(key, (this.forwarded.get(key) ?? 0) + 1);
      }
      if (chance < FAILING) return void response.socket?.destroy();
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ code: 200, events_ingested: events.length }));
    };
  }

  static async open(merchants: number): Promise<EventsHarness> {
    const provider = await TestReceiver.start();
    const service = await Sandbox.create({
      AMPLITUDE_API_KEY: 'chaos',
      AMPLITUDE_URL: `${provider.url}/2/httpapi`,
      ANALYTICS_EVENTS_PER_SECOND: '1000000',
      // A forwarder that was killed is replaced 15 s after its request may have ended.
      ANALYTICS_TIMEOUT_MS: '1000',
    });
    try {
      await service.spawn();
      await service.ready();
      const worker = service.companion('worker', { ROLES: 'worker' });
      const { merchant, second_merchant: second } = service.file;
      const own = [merchant, second].map(credentials);
      const more = Array.from({ length: Math.max(0, merchants - own.length) }, () => newMerchant(service));
      const harness = new EventsHarness(service, worker, [...own, ...more], provider);
      await worker.spawn();
      await worker.ready();
      return harness;
    } catch (error) {
      await service.remove();
      await provider.stop();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.service.remove();
    await this.provider.stop();
  }
}

/** By `npm run merchant`, as an operator does it. */
function newMerchant(service: Sandbox): Credentials {
  const { status, stdout, stderr } = spawnSync(
    'npm',
    ['run', '--silent', 'merchant', '--', '--json', 'create', '--name', 'Shop'],
    { cwd: ROOT, encoding: 'utf8', env: { ...process.env, DATA_DIR: service.root }, timeout: 60_000 },
  );
  if (status !== 0) throw new Error(`no merchant: ${stdout}${stderr}`);
  const created = JSON.parse(stdout) as { merchant_id: string; private_key: string };
  return { apiKey: created.merchant_id, privateKey: created.private_key };
}
