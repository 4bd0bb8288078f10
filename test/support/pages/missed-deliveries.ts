import { randomUUID } from 'node:crypto';
import { eventually } from '../eventually.js';
import type { SignedClient } from '../http/signed-client.js';
import { MerchantWebhooks, type Delivery } from '../webhooks/merchant-webhooks.js';
import type { PagesService } from './pages-service.js';

/** A merchant with a disabled endpoint. One delivery waits 1 h for its second attempt, one was dropped. */
interface MissedDeliveries {
  readonly merchant: SignedClient;
  readonly endpointId: string;
  readonly pendingId: string;
  readonly droppedId: string;
  /** The receiver responds with 204 afterwards. */
  repair(): void;
  enable(): Promise<void>;
}

export async function missDeliveries({ app, receiver }: PagesService): Promise<MissedDeliveries> {
  const merchant = await app.newMerchant();
  const webhooks = new MerchantWebhooks(app, merchant);
  const path = `/${randomUUID()}`;
  let isRepaired = false;
  const { behavior } = receiver;
  receiver.behavior = (response, received) => {
    if (received.path !== path) return behavior(response, received);
    if (isRepaired) return void response.writeHead(204).end();
    response.writeHead(503, { 'retry-after': '3600' }).end('closed for an hour');
  };
  const endpointId = await webhooks.register(receiver.url + path);
  const created = (isIt: (delivery: Delivery) => boolean): Promise<string> =>
    eventually(async () => (await webhooks.list(endpointId)).webhook_deliveries.find(isIt)?.id);
  await webhooks.publish();
  const pendingId = await created(({ attempt_count }) => attempt_count === 1);
  await webhooks.change(endpointId, { status: 'disabled' });
  await webhooks.publish();
  const droppedId = await created(({ status }) => status === 'dropped');
  const repair = (): void => void (isRepaired = true);
  const enable = (): Promise<void> => webhooks.change(endpointId, { status: 'enabled' });
  return { merchant, endpointId, pendingId, droppedId, repair, enable };
}
