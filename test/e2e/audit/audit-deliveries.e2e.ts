import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AuditReport } from '../../../src/contexts/audit/application/verify.js';
import { deriveId, newId } from '../../../src/kernel/ids.js';
import { onTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';
import { invoke } from '../../support/programs/cli.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';

const TABLE = 'webhooks.deliveries';
const SNAPSHOTS = 'webhooks.endpoint_snapshots';

// Its own service: its tables are tampered with.
const app = onTestApp();
let receiver: TestReceiver;
beforeAll(async () => {
  receiver = await TestReceiver.start();
});
afterAll(() => receiver?.stop());

/** What an audit finds in deliveries; events of payouts that were never reported are in the log too. */
async function verify(): Promise<{ rows: number; different: number; listed: string[] }> {
  const { printed } = await invoke('audit', { DATABASE_URL: app.config.databaseUrl! }, '--json', 'verify');
  const report = JSON.parse(printed) as AuditReport;
  const { rows, different } = report.read_models!.tables.find(({ table }) => table === TABLE)!;
  const listed = report.differences.filter((each) => each.startsWith('webhooks.'));
  expect(report.not_checked.join()).not.toContain(TABLE);
  return { rows, different, listed };
}

describe('npm run audit -- verify, of deliveries', () => {
  it('agrees with tests, resends, recoveries, and endpoints that are disabled, changed and deleted', async () => {
    const { merchant } = app;
    const webhooks = new MerchantWebhooks(app, merchant);
    receiver.respondWith(404, 200);
    const [one, other] = [await webhooks.register(receiver.url), await webhooks.register(receiver.url)];
    await webhooks.publish();
    const [exhausted] = await webhooks.settled(one, 1);
    await webhooks.settled(other, 1);
    await webhooks.change(other, { event_types: ['payout.failed'] });
    await webhooks.change(one, { status: 'disabled' });
    await webhooks.test(one);
    await webhooks.publish(3);
    await webhooks.settled(one, 5);
    await webhooks.change(one, { status: 'enabled' });
    await merchant.post(`/merchants/v1/webhook_deliveries/${exhausted!.id}/resend`);
    await merchant.post(`${webhooks.path(one)}/recover`, { since: exhausted!.created_at });
    await eventually(async () =>
      (await webhooks.settled(one, 5)).every(({ status }) => status === 'succeeded'),
    );
    await merchant.call({ method: 'DELETE', path: webhooks.path(other) });
    await webhooks.publish();
    await webhooks.settled(one, 6);
    const { rows, ...rest } = await verify();
    expect(rest).toEqual({ different: 0, listed: [] });
    expect(rows).toBeGreaterThanOrEqual(7);
  });
});

describe('npm run audit -- verify, of deliveries that were tampered with, names', () => {
  let endpoint: string;
  let dropped: string;
  let unasked: string;
  let aged: string;
  /** Succeeded ones, each tampered with once, and two tests. */
  let ids: readonly string[];
  let tests: readonly string[];
  let listed: readonly string[];
  const [stranger, unknown, nil] = [newId(), newId(), '00000000-0000-0000-0000-000000000000'];

  const set = (id: string, what: string): string => `update ${TABLE} set ${what} where delivery_id = '${id}'`;
  const plant = (id: string): string =>
    `insert into ${TABLE} (delivery_id, endpoint_id, merchant_id, type, body, is_test)
     select '${id}', endpoint_id, merchant_id, type, body, is_test from ${TABLE} where delivery_id = '${ids[0]}'`;
  const remove = (id: string): string => `delete from ${TABLE} where delivery_id = '${id}'`;

  /** A tampering, its SQL, and the difference that is listed. */
  const TAMPERINGS: readonly [what: string, sql: () => string, difference: () => string | RegExp][] = [
    [
      'another body, around the first difference',
      () => set(ids[0]!, `body = replace(body, '"1.50"', '"9.50"')`),
      () => new RegExp(`^${TABLE} ${ids[0]}: body is .*"9\\.50".*, the events say .*"1\\.50"`),
    ],
    [
      'another body of a test',
      () => set(tests[0]!, `body = replace(body, 'This is', 'That is')`),
      () => new RegExp(`^${TABLE} ${tests[0]}: body is .*That is.*, the events say .*This is`),
    ],
    [
      'another type',
      () => set(ids[1]!, `type = 'payout.failed'`),
      () => `${TABLE} ${ids[1]}: type is payout.failed, the events say payout.received`,
    ],
    [
      'another endpoint and merchant',
      () => set(ids[2]!, `endpoint_id = '${stranger}', merchant_id = '${stranger}'`),
      () =>
        `${TABLE} ${ids[2]}: endpoint_id is ${stranger}, the events say ${endpoint}; ` +
        `merchant_id is ${stranger}, the events say ${app.secondMerchant.credentials.apiKey}`,
    ],
    [
      'a test that is none',
      () => set(tests[1]!, 'is_test = false'),
      () => `${TABLE} ${tests[1]}: is_test is false, the events say true`,
    ],
    ...[nil, unknown].map((id): (typeof TAMPERINGS)[number] => [
      `one of no event, ${id}`,
      () => plant(id),
      () => `${TABLE} ${id}: a row, the events say that there is none`,
    ]),
    [
      'one of an event that the endpoint did not ask for',
      () => plant(unasked),
      () => `${TABLE} ${unasked}: a row, the events say that there is none`,
    ],
    [
      'one that is gone',
      () => remove(ids[3]!),
      () => `${TABLE} ${ids[3]}: no row, the events say that there is one`,
    ],
    ...(
      [
        [`state = 'succeeded', attempts = 7`, 'state is succeeded, and no attempt succeeded'],
        [`state = 'exhausted'`, 'state is exhausted, and no attempt says so'],
        [`state = 'pending', due_at = 'infinity'`, 'state is pending, and an attempt succeeded'],
        [
          `state = 'dropped', created_at = created_at + interval '1 hour'`,
          'state is dropped, and the endpoint was never disabled since',
        ],
        [`resent_position = '3'`, 'resent_position is 3, the events say null'],
      ] as const
    ).map(([what, how], n): (typeof TAMPERINGS)[number] => [
      how,
      () => set(ids[4 + n]!, what),
      () => `${TABLE} ${ids[4 + n]}: ${how}`,
    ]),
    [
      'one that is pending, although its endpoint was disabled and no resend was requested',
      () => set(dropped, `state = 'pending', finished_at = null, due_at = 'infinity'`),
      () => `${TABLE} ${dropped}: state is pending, the events say dropped`,
    ],
    [
      'another address of an endpoint',
      () => `update ${SNAPSHOTS} set url = 'https://evil.example/' where endpoint_id = '${endpoint}'`,
      () => `${SNAPSHOTS} ${endpoint}: url is https://evil.example/, the events say ${receiver.url}`,
    ],
  ];

  beforeAll(async () => {
    const webhooks = new MerchantWebhooks(app, app.secondMerchant);
    receiver.respondWith(200);
    const other = await webhooks.register(receiver.url);
    await webhooks.change(other, { status: 'disabled' });
    endpoint = await webhooks.register(receiver.url);
    await webhooks.publish(10);
    const settled = await webhooks.settled(endpoint, 10);
    tests = [await webhooks.test(endpoint), await webhooks.test(endpoint)];
    await webhooks.settled(endpoint, 12);
    await webhooks.change(endpoint, { event_types: ['payout.failed'] });
    await webhooks.publish();
    dropped = (await webhooks.settled(other, 11))[0]!.id;
    const events = await app.database.query<{ id: string }>(
      `select id from event_store.events where type = 'payout.received.v2' order by position desc limit 11`,
    );
    unasked = deriveId(events[0]!.id, endpoint);
    // Its time is over: that it is gone is no difference.
    aged = events[10]!.id;
    ids = settled.map(({ id }) => id).filter((id) => id !== deriveId(aged, endpoint));
    const statements = [
      ...TAMPERINGS.map(([, sql]) => sql()),
      `update event_store.events set recorded_at = recorded_at - interval '400 days' where id = '${aged}'`,
      remove(deriveId(aged, endpoint)),
    ];
    await app.database.query(statements.join(';\n'));
    const report = await verify();
    ({ listed } = report);
    expect(report.different).toBe(TAMPERINGS.length);
  });

  it.each(TAMPERINGS)('%s', (_what, _sql, difference) => {
    const expected = difference();
    const matching = typeof expected === 'string' ? expected : expect.stringMatching(expected);
    expect(listed).toContainEqual(matching);
  });

  it('nothing else', () => {
    expect(listed).toHaveLength(TAMPERINGS.length);
  });
});
