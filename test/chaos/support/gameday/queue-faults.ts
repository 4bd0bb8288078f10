import type { IncomingMessage, ServerResponse } from 'node:http';
import { call } from '../../../../bench/support/sign.js';
import { LocalServer } from '../../../support/http/local-server.js';
import type { Faults } from './fault.js';
import { Stage } from './stage.js';

const ENDPOINTS = '/merchants/v1/webhook_endpoints';
const DELIVERIES = 400;

/** A receiver that sends no response until it is released. */
class HangingReceiver extends LocalServer {
  private hangs = true;

  recover(): void {
    this.hangs = false;
    this.disconnect();
  }

  protected override async respond(_request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.hangs) response.writeHead(204).end();
  }
}

export function queueFaults(): Faults {
  const receiver = new HangingReceiver();
  return {
    start: () => Stage.start({ queue: 'redis' }),
    faults: [
      {
        name: 'Redis is down',
        alerts: ['QueueUnavailable'],
        begin: ({ redis }) => redis!.kill(),
        end: ({ redis }) => redis!.restart(),
      },
      {
        name: 'Redis hangs',
        alerts: ['QueueUnavailable'],
        begin: async ({ redis }) => void process.kill(redis!.pid, 'SIGSTOP'),
        end: async ({ redis }) => void process.kill(redis!.pid, 'SIGCONT'),
      },
      {
        name: 'a receiver does not respond',
        alerts: ['DeliveriesStuck'],
        begin: async ({ api: { baseUrl }, merchant, ends }) => {
          await receiver.restart();
          ends.add(() => receiver.shutDown());
          const body = { webhook_endpoint: { url: receiver.url } };
          const created = await call(baseUrl, merchant, 'POST', ENDPOINTS, 201, body);
          const { id } = (created as { webhook_endpoint: { id: string } }).webhook_endpoint;
          for (let n = 0; n < DELIVERIES; n += 1)
            await call(baseUrl, merchant, 'POST', `${ENDPOINTS}/${id}/test_delivery`, 202);
        },
        end: async () => receiver.recover(),
      },
    ],
  };
}
