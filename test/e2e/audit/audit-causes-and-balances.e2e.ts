import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Walk } from '../../../src/contexts/audit/verify/explain.service.js';
import { deriveId, newId } from '../../../src/kernel/ids.js';
import { EVENT_STORE, type EventMetadata, type EventStore } from '../../../src/platform/event-store/port.js';
import type { Run } from '../../support/programs/cli.js';
import { wholeJourney } from './whole-journey.js';
import { LookupsView } from '../../../src/contexts/operations/operations.contract.js';
import { asShell } from '../../support/programs/disburse.js';

const ROUTE = /^(POST|PATCH|PUT|DELETE|GET) \/[^ ]+$/;

// Its own settings: payouts expire, and orders are completed, within a second.

const journey = await wholeJourney();
afterAll(() => journey.close());

const store = journey.app.app.get<EventStore>(EVENT_STORE, { strict: false });
const events = await store.readAll(null, 5000);
const { user, received } = journey;
const eventOf = (stream: string, type: string) =>
  events.find((event) => event.stream === stream && event.type === type)!;
const delivery = deriveId(eventOf(`payout-${received}`, 'payout.received.v2').id, journey.endpoint);

describe('every event says what caused it', () => {
  const of = (stream: string): [string, EventMetadata][] =>
    events.filter((each) => each.stream === stream).map(({ type, metadata }) => [type, metadata]);

  it('a request, an operator, or a process and the event that it follows from', () => {
    const before = new Set<string>();
    const without: string[] = [];
    for (const { id, type, metadata, stream } of events) {
      const { actor, request_id: request, causation_id: cause, merchant_id: merchant } = metadata;
      const asked =
        actor !== undefined && ROUTE.test(actor) && request !== undefined && merchant !== undefined;
      const followed = actor !== undefined && cause !== undefined && before.has(cause);
      // It follows from a delivery.
      const refused = actor === 'webhooks.disabling' && cause !== undefined;
      // Its data has the person who requested it.
      const isOperation = type === 'operation.requested.v1';
      if (!asked && !followed && !refused && !isOperation && actor !== 'operator')
        without.push(`${type} in ${stream}`);
      before.add(id);
    }
    expect(without).toEqual([]);
    expect(events.length).toBeGreaterThan(40);
  });

  it('names the route, the process, and the event of another stream', () => {
    const [[, reportedBy], [, receivedBy]] = of(`payout-${journey.received}`) as [
      [string, EventMetadata],
      [string, EventMetadata],
    ];
    expect(reportedBy).toMatchObject({ actor: 'POST /merchants/v1/payouts/report' });
    expect(receivedBy).toMatchObject({ actor: 'payouts.verification' });
    const activated = of(`user-${journey.user}`).find(([type]) => type === 'user.activated.v1')![1];
    expect(events.find(({ id }) => id === activated.causation_id)).toMatchObject({
      type: 'onboarding.card_issued.v1',
      stream: `onboarding-${journey.user}`,
    });
    const key = journey.app.exchange.open.credentials.apiKey;
    expect(of(`order-${journey.order}`)[0]![1]).toMatchObject({ actor: 'POST /v1/orders', key_id: key });
  });

  it('has no personal data', () => {
    const fields = new Set(events.flatMap(({ metadata }) => Object.keys(metadata)));
    const known = [
      ...['actor', 'request_id', 'merchant_id', 'key_id', 'causation_id', 'operation_id', 'traceparent'],
      'mac',
    ];
    expect([...fields].filter((name) => !known.includes(name))).toEqual([]);
    // A pattern, never a path with values.
    expect(events.some(({ metadata }) => /[0-9a-f]{8}-[0-9a-f]{4}/.test(metadata.actor ?? ''))).toBe(false);
  });
});

describe('npm run audit -- explain', () => {
  const text = async (...args: string[]): Promise<string> =>
    (await journey.run('audit', 'explain', ...args)).printed;
  const walk = async (...args: string[]): Promise<Walk> =>
    JSON.parse((await journey.run('audit', '--json', 'explain', ...args)).printed) as Walk;
  /** Types and actors from the last event back to the first cause. */
  const chain = ({ causes, events }: Walk): unknown[] =>
    causes.map((position) => {
      const { type, metadata } = events.find((event) => event.position === position)!;
      return [type, metadata.actor, metadata.request_id !== undefined];
    });
  const payoutChain = [
    ['payout.received.v2', 'payouts.verification', false],
    ['payout.reported.v1', 'POST /merchants/v1/payouts/report', true],
  ];

  it("a payout: its events, their causes up to the merchant's call, and its deliveries", async () => {
    const found = await walk('payout', journey.received);
    expect(chain(found)).toEqual(payoutChain);
    expect(found.events[1]!.data).toMatchObject({
      payout_id: journey.received,
      receipt_sha256: expect.any(String),
    });
    expect(found.deliveries.find(({ delivery_id }) => delivery_id === delivery)).toMatchObject({
      state: 'succeeded',
      url: expect.stringMatching(/^http/),
      attempt_list: [{ attempt: 1, outcome: 'succeeded', http_status: 204 }],
    });
    expect(found.deliveries.map(({ state }) => state)).toContain('dropped');
    const printed = await text('payout', journey.received);
    expect(printed).toMatch(new RegExp(`^${delivery} +payout.received +succeeded +1 +204 +http`, 'm'));
    expect(printed).toContain(found.causes.join(' ← '));
    expect((await walk('payout', journey.pending)).deliveries).toEqual([]);
  });

  it('an order: its events from the quote to the outcome, and the key of its request', async () => {
    const found = await walk('order', journey.order);
    expect(chain(found)).toEqual([
      ['order.completed.v1', 'exchange.watch', false],
      ['order.processing_started.v1', 'exchange.watch', false],
      ['order.created.v1', 'POST /v1/orders', true],
    ]);
    expect(found.events[0]!.metadata.key_id).toBe(journey.app.exchange.open.credentials.apiKey);
  });

  it('a delivery: the stream of its event, also of a test', async () => {
    const found = await walk('delivery', delivery);
    expect(found.stream).toBe(`payout-${journey.received}`);
    expect(chain(found)).toEqual(payoutChain);
    const { events, deliveries } = await walk('delivery', journey.test);
    expect(events.map(({ type }) => type)).toEqual(['webhook_endpoint.test_requested.v1']);
    expect(deliveries.map(({ delivery_id }) => delivery_id)).toEqual([journey.test]);
  });

  it('a delivery: control characters in the error of a receiver are escaped', async () => {
    await journey.app.database.query(
      `update webhooks.attempts set http_status = null, error = e'no\\u001b[2J\\n\\u202eway' where delivery_id = $1`,
      [delivery],
    );
    expect(await text('delivery', delivery)).toContain('no\\u001b[2J\\u000a\\u202eway');
  });

  it.each([
    ['payout', /The log contains no payout/],
    ['user', /The log contains no user/],
    ['delivery', /No delivery .* is kept/],
  ])('refuses an unknown %s, and no id', async (what, message) => {
    await expect(text(what, newId())).rejects.toThrow(message);
    await expect(text(what, 'x')).rejects.toThrow(/is not a valid/);
  });
});

describe('npm run audit -- balance', () => {
  const run = (...args: string[]): Promise<Run> => journey.run('audit', ...args);
  const balance = async (...args: string[]): Promise<object> =>
    JSON.parse((await run('--json', 'balance', '--user', user, ...args)).printed) as object;

  it('prints the present balance', async () => {
    const { printed, exitCode } = await run('balance', '--user', user);
    expect(printed).toMatch(/^confirmed +12\.5$/m);
    expect(printed).toMatch(/^pending +7$/m);
    expect(printed).toMatch(/^committed +19\.5$/m);
    expect(exitCode).toBeNull();
  });

  it('prints the balance at a position, itself included', async () => {
    const { position: receivedAt } = eventOf(`payout-${received}`, 'payout.received.v2');
    expect(await balance('--at', receivedAt)).toMatchObject({ confirmed: '12.5', pending: '0' });
    const before = await balance('--at', String(BigInt(receivedAt) - 1n));
    expect(before).toMatchObject({ confirmed: '0', pending: '12.5', committed: '12.5' });
  });

  it('prints the balance before a time', async () => {
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
    ['of no id', () => ['--user', 'x'], /is not a valid user id: expected a UUID/],
    ['at an invalid point', () => ['--user', user, '--at', 'yesterday'], /--at takes a position/],
    ['before the user', () => ['--user', user, '--at', '0'], /contains no user/],
    ['of a user who is not there', () => ['--user', newId()], /contains no user/],
  ])('refuses a balance %s', async (_name, args, message) => {
    await expect(run('balance', ...args())).rejects.toThrow(message);
  });
});

const merchantId = journey.app.merchant.credentials.apiKey;
const grace = await journey.app.newAdmin({ role: 'support' });

describe('what the shell displays of a merchant', () => {
  // Programs of other tests displayed some of it.
  beforeAll(() => journey.app.database.query('truncate operations.lookups'));

  const run = (...args: readonly string[]) => asShell(journey.app.config.dataDir, ...args);
  const lookups = async () => {
    const view = journey.app.app.get(LookupsView, { strict: false });
    const { lookups: found } = await view.page(merchantId, { page_size: 100 });
    return found
      .filter((each) => each['kind'] === 'read')
      .map((each) => `${each['operator_name']} ${each['subject']}`);
  };

  it("is in the merchant's lookups, by the key's owner or the shell", async () => {
    const { pending, order, test } = journey;
    const commands: readonly (readonly [subject: string, ...args: string[]])[] = [
      [`payout ${received}`, 'payouts', 'show', received],
      [`payout ${pending}`, 'payouts', 'show', pending],
      [`user ${user}`, 'users', 'show', user],
      [`delivery ${test}`, 'deliveries', 'show', test],
      [`order ${order}`, 'orders', 'show', order],
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
