import { startService } from '../../../sandbox/service.js';
import { EVENT_STORE, type EventStore } from '../../../src/platform/event-store/port.js';
import { startTestApp, type TestApp, type TestSettings } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ADDRESS, orderIn } from '../../support/exchange/exchange-orders.js';
import { MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';
import { programsFor, type Run } from '../../support/programs/cli.js';
import { asShell } from '../../support/programs/disburse.js';
import { createPayee, reported, settledPayout, receivedPayout } from '../../support/payouts/payout-calls.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';
import { SignedClient } from '../../support/http/signed-client.js';

/** Ids of one resource of each kind. */
export interface WholeJourney {
  readonly app: TestApp;
  readonly user: string;
  /** 12.50 USDC. */
  readonly received: string;
  /** 7 USDC. */
  readonly pending: string;
  /** 3 USDC, of another, deactivated user. */
  readonly expired: string;
  /** 100 USDC, completed. */
  readonly order: string;
  readonly endpoint: string;
  readonly test: string;
  run(program: string, ...args: string[]): Promise<Run>;
  close(): Promise<void>;
}

/** Payouts of each outcome, an exchange order, webhooks, and operators' work, all over HTTP and the programs. */
export async function wholeJourney(settings: TestSettings = {}): Promise<WholeJourney> {
  const receiver = await TestReceiver.start();
  const app = await startTestApp({
    PAYOUT_EXPIRY_MARGIN_SECONDS: '0',
    CHAIN_MAX_HEAD_AGE_SECONDS: '0',
    EXCHANGE_CHECK_INTERVAL_MS: '50',
    EXCHANGE_SCAN_INTERVAL_MS: '20',
    EXCHANGE_SETTLE_MS: '50',
    ...settings,
  });
  const { merchant, chain } = app;
  const run = programsFor(app);
  const webhooks = new MerchantWebhooks(app, merchant);
  const endpoint = await webhooks.register(`${receiver.url}/hook`);
  await webhooks.register(`${receiver.url}/gone`);
  receiver.behavior = (response, { path }) => response.writeHead(path === '/gone' ? 410 : 204).end();
  const test = await webhooks.test(endpoint);

  const { user, payout } = await receivedPayout(app, '12.50');
  const leaver = await createPayee(merchant);
  // A payout expires within a second, not a day.
  const brief = await startService({ ...app.config, roles: ['api'], payoutVerificationWindowSeconds: 1 });
  const inHaste = new SignedClient(brief.address!, merchant.credentials);
  const expired = (await reported(inHaste, leaver.id, { amount: '3' })).id;
  await brief.close();
  const { dataDir } = app.config;
  await asShell(dataDir, 'users', 'deactivate', leaver.id, '--reason', 'requested');

  const sale = orderIn(await app.exchange.open.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS }), 201);
  await chain.transfer(sale.deposit_address, '100');
  await chain.mine();
  const store = app.app.get<EventStore>(EVENT_STORE, { strict: false });
  const seen = (stream: string, type: string): Promise<true> =>
    eventually(async () => (await store.readStream(stream)).some((event) => event.type === type));
  await seen(`order-${sale.id}`, 'order.completed.v1');
  await settledPayout(merchant, expired);
  await seen(`user-${leaver.id}`, 'user.deactivated.v1');
  await seen(`webhook_endpoints-${merchant.credentials.apiKey}`, 'webhook_endpoint.disabled.v1');
  const { apiKey } = app.secondMerchant.credentials;
  const network = ['--ip-allow-list', '127.0.0.0/8', '--reason', 'their own network'];
  await asShell(dataDir, 'merchants', 'update', apiKey, ...network);
  const pending = (await reported(merchant, user, { amount: '7' })).id;
  return {
    app,
    user,
    received: payout.id,
    pending,
    expired,
    order: sale.id,
    endpoint,
    test,
    run,
    close: async () => {
      await app.close();
      await receiver.stop();
    },
  };
}
