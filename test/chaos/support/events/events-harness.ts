import { TestReceiver } from '../../../support/webhooks/receiver.js';
import type { ServiceProcess } from '../service-process.js';
import { Shared } from '../shared.js';

/** One request of the forwarder in so many fails, before the events are accepted or after. */
const FAILING = 0.02;

/** A service with all roles, a second worker, and an analytics provider with Amplitude's HTTP API. */
export class EventsHarness {
  /** `<merchant id> <insert_id>` of each forwarded event, and how often it came. */
  readonly forwarded = new Map<string, number>();
  forwardRequests = 0;

  private constructor(
    readonly shared: Shared,
    readonly service: ServiceProcess,
    readonly worker: ServiceProcess,
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

  static async open(): Promise<EventsHarness> {
    const provider = await TestReceiver.start();
    const shared = await Shared.start();
    const env = {
      AMPLITUDE_API_KEY: 'chaos',
      AMPLITUDE_URL: `${provider.url}/2/httpapi`,
      ANALYTICS_EVENTS_PER_SECOND: '1000000',
      // A forwarder that was killed is replaced 15 s after its request may have ended.
      ANALYTICS_TIMEOUT_MS: '1000',
    };
    try {
      const service = await shared.service('service', env);
      const worker = await shared.process('worker', { ...env, ROLES: 'worker' }).start();
      return new EventsHarness(shared, service, worker, provider);
    } catch (error) {
      await shared.close();
      await provider.stop();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.shared.close();
    await this.provider.stop();
  }
}
