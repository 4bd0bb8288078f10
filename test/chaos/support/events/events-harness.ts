import { TestReceiver } from '../../../support/webhooks/receiver.js';
import type { ServiceProcess } from '../../../../bench/support/service.js';
import type { Shared } from '../shared.js';

/** The share of the forwarder's requests that fail, before or after the events are accepted. */
const FAILING = 0.02;

export class EventsHarness {
  /** The number of times each event was forwarded, by `<merchant id> <insert_id>`. */
  readonly forwarded = new Map<string, number>();
  forwardRequests = 0;

  private constructor(
    readonly shared: Shared,
    readonly service: ServiceProcess,
    readonly worker: ServiceProcess,
    provider: TestReceiver,
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

  static async open(shared: Shared): Promise<EventsHarness> {
    const provider = await shared.ends.start(TestReceiver.start());
    const env = {
      AMPLITUDE_API_KEY: 'chaos',
      AMPLITUDE_URL: `${provider.url}/2/httpapi`,
      ANALYTICS_EVENTS_PER_SECOND: '1000000',
      // A killed forwarder is replaced 15 s after its request has timed out.
      ANALYTICS_TIMEOUT_MS: '1000',
    };
    const service = await shared.service('service', env);
    const worker = await shared.process('worker', { ...env, ROLES: 'worker' }).start();
    return new EventsHarness(shared, service, worker, provider);
  }
}
