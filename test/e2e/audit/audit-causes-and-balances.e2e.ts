import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Walk } from '../../../src/contexts/audit/verify/explain.service.js';
import { deriveId, newId } from '../../../src/kernel/ids.js';
import { EVENT_STORE, type EventMetadata, type EventStore } from '../../../src/platform/event-store/port.js';
import { startService } from '../../../sandbox/service.js';
import { LookupsView } from '../../../src/contexts/operations/search/lookups.view.js';
import { testApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ADDRESS, orderIn } from '../../support/exchange/exchange-orders.js';
import { SignedClient } from '../../support/http/signed-client.js';
import { createPayee, receivedPayout, reported, settledPayout } from '../../support/payouts/payout-calls.js';
import { programsFor, type Run } from '../../support/programs/cli.js';
import { asShell } from '../../support/programs/disburse.js';
import { MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';

const ROUTE = /^(POST|PATCH|PUT|DELETE|GET) \/[^ ]+$/;

// Separate settings, so that payouts expire and orders are completed within a second.
const app = await testApp({
  PAYOUT_EXPIRY_MARGIN_SECONDS: '0',
  CHAIN_MAX_HEAD_AGE_SECONDS: '0',
  EXCHANGE_CHECK_INTERVAL_MS: '50',
  EXCHANGE_SCAN_INTERVAL_MS: '20',
  EXCHANGE_SETTLE_MS: '50',
});
const { merchant, chain } = app;
const { dataDir } = app.config;
const audit = (...args: string[]): Promise<Run> => programsFor(app)('audit', ...args);
const receiver = await TestReceiver.start();
afterAll(() => receiver.stop());

// Payouts of each outcome, an exchange order, webhooks and operators' work, over HTTP and the programs.
const webhooks = new MerchantWebhooks(app, merchant);
const endpoint = await webhooks.register(`${receiver.url}/hook`);
await webhooks.register(`${receiver.url}/gone`);
receiver.behavior = (response, { path }) => response.writeHead(path === '/gone' ? 410 : 204).end();
const testDelivery = await webhooks.test(endpoint);
const {
  user,
  payout: { id: received },
} = await receivedPayout(app, '12.50');
const leaver = (await createPayee(merchant)).id;
// This payout expires within a second, not a day.
const brief = await startService({ ...app.config, roles: ['api'], payoutVerificationWindowSeconds: 1 });
const inHaste = new SignedClient(brief.address!, merchant.credentials);
const expired = (await reported(inHaste, leaver, { amount: '3' })).id;
await brief.close();
await asShell(dataDir, 'users', 'deactivate', leaver, '--reason', 'requested');
const sale = orderIn(await app.exchange.open.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS }), 201);
await chain.transfer(sale.deposit_address, '100');
await chain.mine();
const store = app.app.get<EventStore>(EVENT_STORE, { strict: false });
const seen = (stream: string, type: string): Promise<true> =>
  eventually(async () => (await store.readStream(stream)).some((event) => event.type === type));
await seen(`order-${sale.id}`, 'order.completed.v1');
await settledPayout(merchant, expired);
await seen(`user-${leaver}`, 'user.deactivated.v1');
await seen(`webhook_endpoints-${merchant.credentials.apiKey}`, 'webhook_endpoint.disabled.v1');
const network = ['--ip-allow-list', '127.0.0.0/8', '--reason', 'their own network'];
await asShell(dataDir, 'merchants', 'update', app.secondMerchant.credentials.apiKey, ...network);
const pending = (await reported(merchant, user, { amount: '7' })).id;

const events = await store.readAll(null, 5000);
const eventOf = (stream: string, type: string) =>
  events.find((event) => event.stream === stream && event.type === type)!;
const delivery = deriveId(eventOf(`payout-${received}`, 'payout.received.v2').id, endpoint);

describe('the cause of an event', () => {
  const of = (stream: string): [string, EventMetadata][] =>
    events.filter((each) => each.stream === stream).map(({ type, metadata }) => [type, metadata]);

  it('is a request, an operator, or an earlier event to which a process reacts', () => {
    const before = new Set<string>();
    const without: string[] = [];
    for (const { id, type, metadata, stream } of events) {
      const { actor, request_id: request, causation_id: cause, merchant_id: merchant } = metadata;
      const requested =
        actor !== undefined && ROUTE.test(actor) && request !== undefined && merchant !== undefined;
      const followed = actor !== undefined && cause !== undefined && before.has(cause);
      // It follows from a delivery.
      const refused = actor === 'webhooks.disabling' && cause !== undefined;
      // The data of an operation names the person who requested it.
      const isOperation = type === 'operation.requested.v1';
      if (!requested && !followed && !refused && !isOperation && actor !== 'operator')
        without.push(`${type} in ${stream}`);
      before.add(id);
    }
    expect(without).toEqual([]);
    expect(events.length).toBeGreaterThan(40);
  });

  it('names the route of the request, the reacting process, or the event in another stream', () => {
    const [reportedBy, receivedBy] = of(`payout-${received}`).map(([, metadata]) => metadata);
    expect(reportedBy).toMatchObject({ actor: 'POST /merchants/v1/payouts/report' });
    expect(receivedBy).toMatchObject({ actor: 'payouts.verification' });
    const activated = of(`user-${user}`).find(([type]) => type === 'user.activated.v1')![1];
    expect(events.find(({ id }) => id === activated.causation_id)).toMatchObject({
      type: 'onboarding.card_issued.v1',
      stream: `onboarding-${user}`,
    });
    const key = app.exchange.open.credentials.apiKey;
    expect(of(`order-${sale.id}`)[0]![1]).toMatchObject({ actor: 'POST /v1/orders', key_id: key });
  });

  it('contains no personal data', () => {
    const fields = new Set(events.flatMap(({ metadata }) => Object.keys(metadata)));
    const known = [
      ...['actor', 'request_id', 'merchant_id', 'key_id', 'causation_id', 'operation_id', 'traceparent'],
      'mac',
    ];
    expect([...fields].filter((name) => !known.includes(name))).toEqual([]);
    // The actor is a pattern, never a path with values.
    expect(events.some(({ metadata }) => /[0-9a-f]{8}-[0-9a-f]{4}/.test(metadata.actor ?? ''))).toBe(false);
  });
});

describe('npm run audit -- explain', () => {
  const text = async (...args: string[]): Promise<string> => (await audit('explain', ...args)).printed;
  const walk = async (...args: string[]): Promise<Walk> =>
    JSON.parse((await audit('--json', 'explain', ...args)).printed) as Walk;
  /** Returns types and actors from the last event back to the first cause. */
  const chain = ({ causes, events }: Walk): unknown[] =>
    causes.map((position) => {
      const { type, metadata } = events.find((event) => event.position === position)!;
      return [type, metadata.actor, metadata.request_id !== undefined];
    });
  const payoutChain = [
    ['payout.received.v2', 'payouts.verification', false],
    ['payout.reported.v1', 'POST /merchants/v1/payouts/report', true],
  ];

  it('prints a payout with its events, their causes back to the request of the merchant, and its deliveries', async () => {
    const found = await walk('payout', received);
    expect(chain(found)).toEqual(payoutChain);
    expect(found.events[1]!.data).toMatchObject({
      payout_id: received,
      receipt_sha256: expect.any(String),
    });
    expect(found.deliveries.find(({ delivery_id }) => delivery_id === delivery)).toMatchObject({
      state: 'succeeded',
      url: expect.stringMatching(/^http/),
      attempt_list: [{ attempt: 1, outcome: 'succeeded', http_status: 204 }],
    });
    expect(found.deliveries.map(({ state }) => state)).toContain('dropped');
    const printed = await text('payout', received);
    expect(printed).toMatch(new RegExp(`^${delivery} +payout.received +succeeded +1 +204 +http`, 'm'));
    expect(printed).toContain(found.causes.join(' ← '));
    expect((await walk('payout', pending)).deliveries).toEqual([]);
  });

  it('prints an order with its events from creation to outcome, and the key of its request', async () => {
    const found = await walk('order', sale.id);
    expect(chain(found)).toEqual([
      ['order.completed.v1', 'exchange.watch', false],
      ['order.processing_started.v1', 'exchange.watch', false],
      ['order.created.v1', 'POST /v1/orders', true],
    ]);
    expect(found.events[0]!.metadata.key_id).toBe(app.exchange.open.credentials.apiKey);
  });

  it('prints a delivery with the stream of its event, even if it is a test delivery', async () => {
    const found = await walk('delivery', delivery);
    expect(found.stream).toBe(`payout-${received}`);
    expect(chain(found)).toEqual(payoutChain);
    const { events, deliveries } = await walk('delivery', testDelivery);
    expect(events.map(({ type }) => type)).toEqual(['webhook_endpoint.test_requested.v1']);
    expect(deliveries.map(({ delivery_id }) => delivery_id)).toEqual([testDelivery]);
  });

  it('escapes control characters in the error of a receiver', async () => {
    await app.database.query(
      `update webhooks.attempts set http_status = null, error = e'no\\u001b[2J\\n\\u202eway' where delivery_id = $1`,
      [delivery],
    );
    expect(await text('delivery', delivery)).toContain('no\\u001b[2J\\u000a\\u202eway');
  });

  it.each([
    ['payout', /The log contains no payout/],
    ['user', /The log contains no user/],
    ['delivery', /No delivery .* is kept/],
  ])('refuses an unknown %s and a text that is no id', async (what, message) => {
    await expect(text(what, newId())).rejects.toThrow(message);
    await expect(text(what, 'x')).rejects.toThrow(/is not a valid/);
  });
});

describe('npm run audit -- balance', () => {
  const balance = async (...args: string[]): Promise<object> =>
    JSON.parse((await audit('--json', 'balance', '--user', user, ...args)).printed) as object;

  it('prints the present balance', async () => {
    const { printed, exitCode } = await audit('balance', '--user', user);
    expect(printed).toMatch(/^confirmed +12\.5$/m);
    expect(printed).toMatch(/^pending +7$/m);
    expect(printed).toMatch(/^committed +19\.5$/m);
    expect(exitCode).toBeNull();
  });

  it('prints the balance at a position, including that position', async () => {
    const { position: receivedAt } = eventOf(`payout-${received}`, 'payout.received.v2');
    expect(await balance('--at', receivedAt)).toMatchObject({ confirmed: '12.5', pending: '0' });
    const before = await balance('--at', String(BigInt(receivedAt) - 1n));
    expect(before).toMatchObject({ confirmed: '0', pending: '12.5', committed: '12.5' });
  });

  it('prints the balance at a time, without the events of exactly that time', async () => {
    const { recordedAt: reportedAt } = eventOf(`payout-${received}`, 'payout.reported.v1');
    const { recordedAt: receivedAt } = eventOf(`payout-${received}`, 'payout.received.v2');
    const at = (time: Date, ms = 0): string => new Date(time.getTime() + ms).toISOString();
    expect(await balance('--at', at(reportedAt))).toMatchObject({ confirmed: '0', pending: '0' });
    const then = await balance('--at', at(receivedAt));
    expect(then).toMatchObject({ confirmed: '0', pending: '12.5' });
    const shifted = at(receivedAt, 7_200_000).replace('Z', '+02:00');
    expect(await balance('--at', shifted)).toEqual({ ...then, at: shifted });
  });

  it.each<[string, () => string[], RegExp]>([
    ['of a user id that is no UUID', () => ['--user', 'x'], /is not a valid user id: expected a UUID/],
    ['at an invalid position', () => ['--user', user, '--at', 'yesterday'], /--at must be a position/],
    ['before the user was created', () => ['--user', user, '--at', '0'], /contains no user/],
    ['of an unknown user', () => ['--user', newId()], /contains no user/],
  ])('refuses a balance %s', async (_name, args, message) => {
    await expect(audit('balance', ...args())).rejects.toThrow(message);
  });
});

const merchantId = merchant.credentials.apiKey;
const grace = await app.newAdmin({ role: 'support' });

describe('a read of merchant data by an operator or the shell', () => {
  // Programs of other tests have displayed some of it.
  beforeAll(() => app.database.query('truncate operations.lookups'));

  const run = (...args: readonly string[]) => asShell(dataDir, ...args);
  const lookups = async () => {
    const view = app.app.get(LookupsView, { strict: false });
    const { lookups: found } = await view.page(merchantId, { page_size: 100 });
    return found
      .filter((each) => each['kind'] === 'read')
      .map((each) => `${each['operator_name']} ${each['subject']}`);
  };

  it('is in the lookups of the merchant under the name of the operator or of the shell', async () => {
    const commands: readonly (readonly [subject: string, ...args: string[]])[] = [
      [`payout ${received}`, 'payouts', 'show', received],
      [`payout ${pending}`, 'payouts', 'show', pending],
      [`user ${user}`, 'users', 'show', user],
      [`delivery ${testDelivery}`, 'deliveries', 'show', testDelivery],
      [`order ${sale.id}`, 'orders', 'show', sale.id],
      ['orders', 'orders', 'list'],
      ['credentials', 'credentials', 'list'],
      [`merchant ${merchantId}`, 'merchants', 'show', merchantId],
      ['merchants', 'merchants', 'list'],
    ];
    expect(await lookups()).toEqual([]);
    for (const [, ...args] of commands) await run(...args);
    await run('operations', 'list');
    const subjects = commands.map(([subject]) => `shell ${subject}`);
    expect((await lookups()).toSorted()).toEqual(subjects.toSorted());
    await grace.get(`/payouts/${received}`);
    await grace.get(`/payouts/${received}`);
    expect((await lookups()).filter((each) => each.startsWith('Test operator'))).toEqual([
      `Test operator payout ${received}`,
    ]);
  });
});
