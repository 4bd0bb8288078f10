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
  const { databaseUrl, masterKey } = app.config;
  const env = { DATABASE_URL: databaseUrl!, MASTER_KEY: masterKey! };
  const { printed } = await invoke('audit', env, '--json', 'verify');
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

  const forged = (id: string): string => `${TABLE} ${id}: the service did not create it: its MAC is wrong`;

  /** A tampering, its SQL, and the difference that is listed. */
  const TAMPERINGS: readonly [what: string, sql: () => string, difference: () => string][] = [
    ['another body', () => set(ids[0]!, `body = replace(body, '"1.50"', '"9.50"')`), () => forged(ids[0]!)],
    [
      'another body of a test',
      () => set(tests[0]!, `body = replace(body, 'This is', 'That is')`),
      () => forged(tests[0]!),
    ],
    ['another type', () => set(ids[1]!, `type = 'payout.failed'`), () => forged(ids[1]!)],
    ['another endpoint', () => set(ids[2]!, `endpoint_id = '${stranger}'`), () => forged(ids[2]!)],
    ['another merchant', () => set(ids[4]!, `merchant_id = '${stranger}'`), () => forged(ids[4]!)],
    ['a test that is none', () => set(tests[1]!, 'is_test = false'), () => forged(tests[1]!)],
    ...[nil, unknown].map((id): (typeof TAMPERINGS)[number] => [
      `one of no event, ${id}`,
      () => plant(id),
      () => forged(id),
    ]),
    ['one of an event that the endpoint did not ask for', () => plant(unasked), () => forged(unasked)],
    [
      'more rows than the events create',
      () => '',
      () => `${TABLE} 3 of its rows: the events say that there are none`,
    ],
    [
      'one that is gone',
      () => remove(ids[3]!),
      () => `${TABLE} ${ids[3]}: no row, the events say that there is one`,
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
    endpoint = await webhooks.register(receiver.url);
    await webhooks.publish(10);
    const settled = await webhooks.settled(endpoint, 10);
    tests = [await webhooks.test(endpoint), await webhooks.test(endpoint)];
    await webhooks.settled(endpoint, 12);
    await webhooks.change(endpoint, { event_types: ['payout.failed'] });
    await webhooks.publish();
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
    expect(listed).toContain(difference());
  });

  it('nothing else', () => {
    expect(listed).toHaveLength(TAMPERINGS.length);
  });
});
