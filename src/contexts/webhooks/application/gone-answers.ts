import type { Database } from '../../../platform/postgres/database.js';
import { DisableWebhookEndpoint } from './disable-webhook-endpoint.js';

const AT_ONCE = 1000;

/** Keeps for later that an endpoint is to be disabled: of several attempts that were answered 410 the latest. */
export async function keepGone(
  database: Database,
  { merchantId, endpointId, reason }: DisableWebhookEndpoint,
): Promise<void> {
  if (reason.cause !== 'gone') return;
  await database.query(
    `insert into webhooks.gone_answers as kept (endpoint_id, merchant_id, delivery_id, attempted_url, attempted_at)
     values ($1, $2, $3, $4, $5)
     on conflict (endpoint_id) do update set delivery_id = excluded.delivery_id,
       attempted_url = excluded.attempted_url, attempted_at = excluded.attempted_at
     where excluded.attempted_at > kept.attempted_at`,
    [endpointId, merchantId, reason.deliveryId, reason.attemptedUrl, reason.attemptedAt],
  );
}

/** Does what {@link keepGone} kept, and forgets each once it is done. Rejects, and goes no further, when one fails. */
export async function settleGone(
  database: Database,
  disable: (command: DisableWebhookEndpoint) => Promise<unknown>,
): Promise<void> {
  const kept = await database.query<{
    endpoint_id: string;
    merchant_id: string;
    delivery_id: string;
    attempted_url: string;
    attempted_at: Date;
  }>(`select * from webhooks.gone_answers order by attempted_at limit ${AT_ONCE}`);
  for (const { endpoint_id, merchant_id, delivery_id, attempted_url, attempted_at } of kept) {
    const attempt = { attemptedUrl: attempted_url, attemptedAt: attempted_at.toISOString() };
    await disable(
      new DisableWebhookEndpoint(merchant_id, endpoint_id, {
        ...{ cause: 'gone', deliveryId: delivery_id },
        ...attempt,
      }),
    );
    await database.query('delete from webhooks.gone_answers where endpoint_id = $1 and attempted_at = $2', [
      endpoint_id,
      attempted_at,
    ]);
  }
}
