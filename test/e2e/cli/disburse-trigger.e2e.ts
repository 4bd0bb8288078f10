import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { verifyWebhook } from '../../../packages/sdk/src/index.js';
import { EVENT_TYPES } from '../../../src/contexts/webhooks/endpoints/event-types.js';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { sandboxFolderOf } from '../../support/http/listener.js';
import { Disburse, expectEnd } from '../../support/programs/disburse.js';
import { TestReceiver, type Received } from '../../support/webhooks/receiver.js';

const IDS = ['order_id', 'payout_id', 'user_id', 'webhook_endpoint_id'];

interface Triggered {
  readonly type: string;
  readonly deliveries: readonly { readonly id: string; readonly url: string; readonly status: string }[];
}

const app = await sharedApp();
const disburse = new Disburse({ DATA_DIR: sandboxFolderOf(app) });
const receiver = await TestReceiver.start();
const body = { webhook_endpoint: { url: receiver.url, event_types: EVENT_TYPES } };
const response = await app.merchant.post('/merchants/v1/webhook_endpoints', body);
const secret = response.json().webhook_endpoint.signing_secret;

describe('disburse trigger', () => {
  afterAll(() => receiver.stop());
  beforeEach(() => void receiver.received.splice(0));

  const eventIn = ({ body, headers }: Received) => verifyWebhook(secret, body, headers);
  const received = (type: string) =>
    eventually(() => receiver.received.map(eventIn).find((event) => event.type === type));

  it.each(EVENT_TYPES)('makes %s happen and prints its delivery', async (type) => {
    const run = await disburse.run('trigger', type, '--json');
    expect(run).toMatchObject({ code: 0, errors: '' });
    const [printed] = run.lines<Triggered & Record<string, unknown>>();
    const { data, id } = await received(type);
    expect(printed).toMatchObject({
      type,
      deliveries: [{ id, url: receiver.url, status: 'succeeded', http_status: 204 }],
    });
    const named = IDS.filter((name) => printed![name] !== undefined);
    expect(named.length).toBeGreaterThan(0);
    for (const name of named) expect(data).toMatchObject({ [name]: printed![name] });
  });

  it('sets the fields of --set and repeats the event for the time of --for', async () => {
    const set = ['--set', 'amount=3.25', '--set', 'custom_metadata.invoice=A-7'];
    const run = await disburse.run('trigger', 'payout.failed', ...set, '--for', '1500ms', '--json');
    expect(run).toMatchObject({ code: 0, errors: '' });
    const times = run.lines<{ payout_id: string }>();
    expect(new Set(times.map(({ payout_id }) => payout_id)).size).toBe(times.length);
    const { data } = await received('payout.failed');
    expect(data).toMatchObject({ amount: '3.25', custom_metadata: { invoice: 'A-7' } });
    const repeated = await disburse.run(
      ...['trigger', 'webhook_endpoint.test', '--for', '2s', '--every', '1ms', '--json'],
    );
    expect(repeated.lines().length).toBeGreaterThan(1);
  });

  it('prints the event in words, or names the missing subscription, endpoint or option', async () => {
    const people = await disburse.run('trigger', 'webhook_endpoint.test');
    expect(people.output).toMatch(/✓ webhook_endpoint\.test +a test was sent to endpoint/);
    expect(people.output).toContain(`→ ${receiver.url} 204 succeeded, delivery `);
    const { apiKey, privateKey } = app.secondMerchant.credentials;
    const other = disburse.with({
      DISBURSE_BASE_URL: app.url,
      DISBURSE_API_KEY: apiKey,
      DISBURSE_PRIVATE_KEY: privateKey,
    });
    expect((await other.run('trigger', 'user.kyc_passed')).output).toContain(
      'No endpoint is subscribed to it',
    );
    const without = await other.run('trigger', 'webhook_endpoint.test');
    expectEnd(without, 1, 'no enabled webhook endpoint');
    const lost = await other.run('trigger', 'user.kyc_failed');
    expectEnd(lost, 2, '--widget-url');
    const keyless = await other.run('trigger', 'order.completed');
    expectEnd(keyless, 2, '--exchange-key');
  });

  it('expects no delivery of an order event at an endpoint that lists no types', async () => {
    const path = '/merchants/v1/webhook_endpoints';
    const [{ id }] = (await app.merchant.get(path)).json().webhook_endpoints;
    const change = (event_types: readonly string[] | null) =>
      app.merchant.call({
        method: 'PATCH',
        path: `${path}/${id}`,
        body: { webhook_endpoint: { event_types } },
      });
    await change(null);
    const run = await disburse.run('trigger', 'order.failed', '--set', 'user_id=ann');
    expect([run.code, run.output]).toEqual([0, expect.stringContaining('No endpoint is subscribed to it')]);
    await change(EVENT_TYPES);
  });

  it.each([
    [['payout.lost'], 'payout.lost is no type of the catalogue. There are user.onboarding_started,'],
    [
      ['payout.failed', '--set', 'reason=x'],
      'payout.failed does not take --set reason. It takes user_id, amount,',
    ],
    [['payout.failed', '--set', 'amount'], 'It must be <name>=<value>.'],
    [['payout.failed', '--for', '3 days'], 'It must be a duration such as'],
    [['payout.failed', '--set', 'custom_metadata=[]'], 'custom_metadata must be a JSON object.'],
  ])('refuses %j as wrong usage without any effect', async (args, sentence) => {
    const run = await disburse.run('trigger', ...args);
    expect([run.code, run.output, run.errors]).toEqual([2, '', expect.stringContaining(sentence)]);
  });

  it('runs only in a sandbox and elsewhere requests only /openapi.json', async () => {
    const production = await TestReceiver.start();
    production.behavior = (response) => response.end('{"paths":{"/merchants/v1/payouts/report":{}}}');
    const { apiKey: DISBURSE_API_KEY, privateKey: DISBURSE_PRIVATE_KEY } = app.merchant.credentials;
    const keys = { DISBURSE_BASE_URL: production.url, DISBURSE_API_KEY, DISBURSE_PRIVATE_KEY };
    const run = await disburse.with(keys).run('trigger', 'payout.failed', '--set', `user_id=${randomUUID()}`);
    expectEnd(run, 1, 'is no sandbox');
    expect(production.received.map(({ path }) => path)).toEqual(['/openapi.json']);
    await production.stop();
  });

  it('names the refused field and the request id', async () => {
    const run = await disburse.run('trigger', 'payout.failed', '--set', 'amount=0');
    expect(run.code).toBe(1);
    expect(run.errors).toMatch(/refused this \(422\): amount must .* Request id: [0-9a-f-]{36}$/);
  });
});
