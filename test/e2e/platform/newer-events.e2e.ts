import { describe, expect, it } from '@jest/globals';
import { EVENT_STORE, type EventStore } from '../../../src/platform/event-store/port.js';
import { newId } from '../../../src/kernel/ids.js';
import { scrape } from '../../../src/platform/telemetry/metrics.js';
import { testApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { freshReport } from '../../support/fresh-report.js';
import { programsFor } from '../../support/programs/cli.js';
import { asShell } from '../../support/programs/disburse.js';
import { createUser, getPayout, report, reported, USERS } from '../../support/payouts/payout-calls.js';
import { MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';

const ENDPOINTS = '/merchants/v1/webhook_endpoints';
const NEWER = 'user.flagged.v1';

const app = await testApp({ OPERATIONS_APPROVALS: 'off' });
const flagged = await createUser(app.merchant);
const endpoint = await new MerchantWebhooks(app, app.merchant).register('https://8.8.8.8/hooks');
const earlier = (await reported(app.merchant, flagged)).id;
await getPayout(app.merchant, earlier);
const store = app.app.get<EventStore>(EVENT_STORE, { strict: false });
const event = () => ({ id: newId(), type: NEWER, data: { user_id: flagged }, metadata: {} });
const stream = async (name: string) => ({
  stream: name,
  events: [event()],
  expected: (await store.readStream(name)).length - 1,
});
const { apiKey } = app.merchant.credentials;
const endpoints = await app.database.query<{ stream: string }>(
  `select stream from event_store.events where type = 'webhook_endpoint.registered.v1' and data like '%${apiKey}%'`,
);
await store.commit({ appends: [await stream(`user-${flagged}`), await stream(endpoints[0]!.stream)] });

/** Events of a newer process that this version does not support (docs/upgrading.md). */
describe('events of a newer version', () => {
  const program = programsFor(app);
  const ready = async () => {
    const response = await freshReport(() => fetch(`${app.url}/health/ready`));
    return { status: response.status, body: (await response.json()) as { checks: Record<string, object> } };
  };

  it('leave the user and the endpoints readable', async () => {
    expect((await app.merchant.get(`${USERS}/${flagged}`)).status).toBe(200);
    expect((await app.merchant.get(ENDPOINTS)).status).toBe(200);
    expect((await app.merchant.get(`${ENDPOINTS}/${endpoint}`)).status).toBe(200);
  });

  it('make decisions fail with 503 and leave the Idempotency-Key free for the newer version', async () => {
    const refused = await report(app.merchant, flagged);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, expect.any(String)]);
    const patched = await app.merchant.call({
      method: 'PATCH',
      path: `${ENDPOINTS}/${endpoint}`,
      body: { webhook_endpoint: { description: 'x' } },
    });
    expect(patched.status).toBe(503);
    expect((await app.database.query('select from event_store.responses where status = 503')).length).toBe(0);
  });

  it('halt the subscriptions, which readiness, metrics, audit and system status report', async () => {
    const check = await eventually(async () => {
      const { status, body } = await ready();
      const { subscriptions } = body.checks;
      return status === 200 &&
        JSON.stringify(subscriptions).includes(`payouts.views waits at the unknown ${NEWER}`)
        ? subscriptions
        : null;
    });
    expect(check).toMatchObject({ status: 'ok' });
    expect(await freshReport(scrape)).toContain(
      `disburse_subscription_halted{subscription="payouts.views",type="${NEWER}"} 1`,
    );
    const audit = await program('audit', 'verify');
    expect(audit.exitCode).toBe(1);
    expect(audit.printed).toContain(`UNCHECKED ${NEWER}: unknown to this version (2 events from `);
    await eventually(async () => {
      type System = {
        readonly subscriptions: readonly { readonly name: string; readonly halted_at: string | null }[];
      };
      const { subscriptions } = await asShell<System>(app.config.dataDir, 'system');
      return subscriptions.some(({ name, halted_at }) => name === 'payouts.views' && halted_at !== null);
    });
  });

  it('no longer halt subscriptions once an operator lets them pass', async () => {
    const other = await createUser(app.merchant);
    const payout = await reported(app.merchant, other);
    const letPass = (type: string): Promise<object> =>
      asShell(app.config.dataDir, 'system', 'let-pass', type, '--reason', 'rolled back for good');
    await letPass(NEWER);
    await eventually(async () => (await getPayout(app.merchant, payout.id))?.status === 'pending');
    await eventually(async () => !('detail' in (await ready()).body.checks['subscriptions']!));
    const audit = await program('audit', 'verify');
    expect(audit.printed).toContain(`LET PASS  ${NEWER}`);
    expect(audit.exitCode).not.toBe(2);
    await expect(letPass('payout.reported.v1')).rejects.toThrow('This version can read payout.reported.v1');
  });
});
