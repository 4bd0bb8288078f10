import type { OrderEvent } from '../../../src/contexts/exchange/orders/order-events.js';
import { ORDER_PUBLISHES } from '../../../src/contexts/exchange/exchange.webhooks.js';
import type { Publication, WebhookContent } from '../../../src/platform/context.js';
import type { JsonObject } from '../../../src/platform/event-store/port.js';

interface OrderWebhook extends WebhookContent {
  readonly type: string;
}

/** Returns the webhooks of an order's event, or null for types that are never sent. */
export function webhooksOf({ type, data }: OrderEvent): readonly OrderWebhook[] | null {
  const all: Readonly<Record<string, readonly Publication[]>> = ORDER_PUBLISHES;
  const sent = all[type]?.flatMap(({ type: sentAs, read }): OrderWebhook[] => {
    const content = read(data as unknown as JsonObject);
    return content === null ? [] : [{ type: sentAs, ...content }];
  });
  return sent ?? null;
}
