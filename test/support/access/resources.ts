import type { TestApp } from '../app.js';
import { eventually } from '../eventually.js';
import { ADDRESS } from '../exchange/order-fixtures.js';
import { createPortalSession } from '../http/portal-browser.js';
import { createPayee, reported } from '../payouts/payout-calls.js';
import { MerchantWebhooks } from '../webhooks/merchant-webhooks.js';

/** Creates resources of `app.merchant`. Returns ids by preceding path segment. The delivery is exhausted. */
export async function createResources(app: TestApp): Promise<ReadonlyMap<string, string>> {
  const { merchant, exchange } = app;
  const merchants = merchant.credentials.apiKey;
  const webhooks = new MerchantWebhooks(app, merchant);
  const endpoints = await webhooks.register('http://127.0.0.1:9/');
  const deliveries = await webhooks.test(endpoints);
  const { id: users } = await createPayee(merchant);
  const { id: payouts } = await reported(merchant, users);
  const order = await exchange.open.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS });
  const admin = await app.newAdmin();
  const keys = (await admin.get(`/credentials?merchant_id=${merchants}`)).json().credentials[0].id;
  const { id: portal_sessions } = (await createPortalSession(merchant)).portal_session;
  await eventually(async () => (await admin.get(`/deliveries/${deliveries}`)).text.includes('exhausted'));
  return new Map<string, string>(
    Object.entries({
      ...{ merchants, users, payouts, portal_sessions, orders: order.json().order.id },
      ...{ endpoints, webhook_endpoints: endpoints, deliveries, webhook_deliveries: deliveries },
      ...{ keys, credentials: keys },
    }),
  );
}
