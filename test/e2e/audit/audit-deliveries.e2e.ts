import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AuditReport } from '../../../src/contexts/audit/verify/verify.service.js';
import { deriveId, newId } from '../../../src/kernel/ids.js';
import { testApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';
import { invoke, programsFor } from '../../support/programs/cli.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';
import { AuthenticEventStore } from '../../../src/platform/event-store/authentic-event-store.js';
import { PostgresEventStore } from '../../../src/platform/event-store/postgres/postgres-event-store.js';
import { VIEWS } from '../../support/event-store/read-models.js';
import { ringOf } from '../../support/key-ring.js';
import { testDatabase } from '../../support/postgres.js';

const TABLE = 'webhooks.deliveries';
const SNAPSHOTS = 'webhooks.endpoint_snapshots';

// A separate service, because its tables are tampered with.
const app = await testApp();
const receiver = await TestReceiver.start();
afterAll(() => receiver?.stop());

/** Audits deliveries. The log also has events of payouts that were never reported. */
async function verify(): Promise<{ rows: number; different: number; listed: string[] }> {
  const { printed } = await programsFor(app)('audit', '--json', 'verify');
  const report = JSON.parse(printed) as AuditReport;
  const { rows, different } = report.read_models!.tables.find(({ table }) => table === TABLE)!;
  const listed = report.differences.filter((each) => each.startsWith('webhooks.'));
  expect(report.not_checked.join()).not.toContain(TABLE);
  return { rows, different, listed };
}

describe('npm run audit -- verify, of deliveries,', () => {
  it('finds no difference after tests, resends, recoveries, and disabled, changed and deleted endpoints', async () => {
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

const webhooks = new MerchantWebhooks(app, app.secondMerchant);
const endpoint = await webhooks.register(receiver.url);
await webhooks.publish(10);
const settled = await webhooks.settled(endpoint, 10);
const tests = [await webhooks.test(endpoint), await webhooks.test(endpoint)];
await webhooks.settled(endpoint, 12);
await webhooks.change(endpoint, { event_types: ['payout.failed'] });
await webhooks.publish();
const events = await app.database.query<{ id: string }>(
  `select id from event_store.events where type = 'payout.received.v2' order by position desc limit 11`,
);
const unasked = deriveId(events[0]!.id, endpoint);
// The retention of this event is over, so that its absence is no difference.
const aged = events[10]!.id;
const ids = settled.map(({ id }) => id).filter((id) => id !== deriveId(aged, endpoint));
const [stranger, unknown, nil] = [newId(), newId(), '00000000-0000-0000-0000-000000000000'];

const forged = (id: string): string => `${TABLE} ${id}: the service did not create it: its MAC is wrong`;
const set = (what: string, id: string, sql: string) =>
  [what, `update ${TABLE} set ${sql} where delivery_id = '${id}'`, forged(id)] as const;
const plant = (what: string, id: string) =>
  [
    what,
    `insert into ${TABLE} (delivery_id, endpoint_id, merchant_id, type, body, is_test)
     select '${id}', endpoint_id, merchant_id, type, body, is_test from ${TABLE} where delivery_id = '${ids[0]}'`,
    forged(id),
  ] as const;
const remove = (id: string): string => `delete from ${TABLE} where delivery_id = '${id}'`;

/** A tampering with each delivery, its SQL, and the listed difference. */
const TAMPERINGS: readonly (readonly [what: string, sql: string, difference: string])[] = [
  set('a changed body', ids[0]!, `body = replace(body, '"1.50"', '"9.50"')`),
  set('a changed body of a test delivery', tests[0]!, `body = replace(body, 'This is', 'That is')`),
  set('a changed type', ids[1]!, `type = 'payout.failed'`),
  set('a changed endpoint', ids[2]!, `endpoint_id = '${stranger}'`),
  set('a changed merchant', ids[4]!, `merchant_id = '${stranger}'`),
  set('a test delivery that is no longer marked as a test', tests[1]!, 'is_test = false'),
  plant('a delivery without an event, with the nil UUID', nil),
  plant('a delivery without an event', unknown),
  plant('a delivery of an event that the endpoint did not subscribe to', unasked),
  ['more rows than the events create', '', `${TABLE} 3 of its rows: the events say that there are none`],
  ['a deleted delivery', remove(ids[3]!), `${TABLE} ${ids[3]}: no row, the events say that there is one`],
  [
    'a changed address of an endpoint',
    `update ${SNAPSHOTS} set url = 'https://evil.example/' where endpoint_id = '${endpoint}'`,
    `${SNAPSHOTS} ${endpoint}: url is https://evil.example/, the events say ${receiver.url}`,
  ],
];

describe('npm run audit -- verify, of deliveries that were tampered with,', () => {
  let report: Awaited<ReturnType<typeof verify>>;
  beforeAll(async () => {
    const statements = [
      ...TAMPERINGS.map(([, sql]) => sql),
      `update event_store.events set recorded_at = recorded_at - interval '400 days' where id = '${aged}'`,
      remove(deriveId(aged, endpoint)),
    ];
    await app.database.query(statements.join(';\n'));
    report = await verify();
    expect(report.different).toBe(TAMPERINGS.length);
  });

  it.each(TAMPERINGS)('names %s', (_what, _sql, difference) => expect(report.listed).toContain(difference));

  it('names exactly one difference per tampering', () =>
    expect(report.listed).toHaveLength(TAMPERINGS.length));
});

describe('npm run audit -- verify, of every read model,', () => {
  it('names a deleted row of each table and leaves no schema of the check in the database', async () => {
    const db = await testDatabase();
    const env = { DATABASE_URL: db.url, MASTER_KEY: '11'.repeat(32) };
    const store = new AuthenticEventStore(
      new PostgresEventStore(db.pool),
      await ringOf(db.url, Buffer.from(env.MASTER_KEY, 'hex')),
    );
    for (const view of VIEWS) {
      const events = view.facts().map(([type, data]) => ({ id: newId(), type, data, metadata: {} }));
      await store.commit({ appends: [{ stream: `thing-${newId()}`, events, expected: 'no_stream' }] });
    }
    await store.close();
    await invoke('rebuild', env);
    const tables = VIEWS.flatMap((view) => view.tables);
    const named = async (): Promise<string[][]> => {
      const { printed } = await invoke('audit', { DATABASE_URL: db.url }, '--json', 'verify');
      const { differences } = JSON.parse(printed) as { readonly differences: readonly string[] };
      return tables.map((table) => differences.filter((each) => each.startsWith(`${table} `)));
    };
    expect(await named()).toEqual(tables.map(() => []));
    for (const table of tables)
      await db.pool.query(`delete from ${table} where ctid = (select min(ctid) from ${table})`);
    expect(await named()).toEqual(
      tables.map(() => [expect.stringMatching(/: no row, the events say that there is one$/)]),
    );
    const { rows } = await db.pool.query(`select from pg_namespace where nspname like 'checked%'`);
    expect(rows).toEqual([]);
    await db.drop();
  });
});
