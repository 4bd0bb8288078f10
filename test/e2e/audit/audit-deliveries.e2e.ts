import { beforeEach, describe, expect, it } from '@jest/globals';
import type { AuditReport } from '../../../src/contexts/audit/application/verify.js';
import { deriveId, newId } from '../../../src/kernel/ids.js';
import type { TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { onWebhookHarness, type MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';
import { invoke } from '../../support/programs/cli.js';
import type { TestReceiver } from '../../support/webhooks/receiver.js';
import type { SignedClient } from '../../support/http/signed-client.js';

const TABLE = 'webhooks.deliveries';
let app: TestApp;
let receiver: TestReceiver;
let merchant: SignedClient;
let webhooks: MerchantWebhooks;
onWebhookHarness((harness) => ({ app, receiver, merchant, webhooks } = harness));

/** What an audit says of deliveries; events of payouts that were never reported are in the log too. */
async function verify(): Promise<{ rows: number; different: number; listed: string[]; unchecked: string[] }> {
  const { printed } = await invoke('audit', { DATABASE_URL: app.config.databaseUrl! }, '--json', 'verify');
  const report = JSON.parse(printed) as AuditReport;
  const { rows, different } = report.read_models!.tables.find(({ table }) => table === TABLE)!;
  const listed = report.differences.filter((each) => each.startsWith(`${TABLE} `));
  return { rows, different, listed, unchecked: report.not_checked.filter((each) => each.includes(TABLE)) };
}

const inOrder = { different: 0, listed: [], unchecked: [] };

describe('npm run audit -- verify, of deliveries', () => {
  it('agrees with tests, resends, recoveries, and endpoints that are disabled, changed and deleted', async () => {
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
    expect(rest).toEqual(inOrder);
    expect(rows).toBeGreaterThanOrEqual(7);
  });

  describe('names', () => {
    let endpoint: string;
    let delivery: string;
    let test: string;
    beforeEach(async () => {
      endpoint = await webhooks.register(receiver.url);
      await webhooks.publish();
      delivery = (await webhooks.settled(endpoint, 1))[0]!.id;
      test = await webhooks.test(endpoint);
      await webhooks.settled(endpoint, 2);
    });

    /** What an audit says after `sql` was done, of which nothing is left. */
    async function after(sql: string, ...params: unknown[]): Promise<string[]> {
      await app.database.query('create table kept as select * from webhooks.deliveries');
      try {
        await app.database.query(sql, params);
        const { different, listed } = await verify();
        expect(different).toBe(listed.length);
        return listed;
      } finally {
        await app.database.query(
          'truncate webhooks.deliveries; insert into webhooks.deliveries select * from kept; drop table kept',
        );
      }
    }
    const set = (what: string, id = delivery): Promise<string[]> =>
      after(`update webhooks.deliveries set ${what} where delivery_id = $1`, id);

    it('another body, around the first difference', async () => {
      expect(await set(`body = replace(body, '"1.50"', '"9.50"')`)).toEqual([
        expect.stringMatching(
          new RegExp(`^${TABLE} ${delivery}: body is .*"9\\.50".*, the events say .*"1\\.50"`),
        ),
      ]);
      expect(await set(`body = replace(body, 'This is', 'That is')`, test)).toEqual([
        expect.stringMatching(new RegExp(`^${TABLE} ${test}: body is .*That is.*, the events say .*This is`)),
      ]);
    });

    it('another type, endpoint and merchant, and whether it is a test', async () => {
      const [stranger, merchantId] = [newId(), merchant.credentials.apiKey];
      expect(await set(`type = 'payout.failed'`)).toEqual([
        `${TABLE} ${delivery}: type is payout.failed, the events say payout.received`,
      ]);
      expect(await set(`endpoint_id = '${stranger}', merchant_id = '${stranger}'`)).toEqual([
        `${TABLE} ${delivery}: endpoint_id is ${stranger}, the events say ${endpoint}; ` +
          `merchant_id is ${stranger}, the events say ${merchantId}`,
      ]);
      expect(await set('is_test = false', test)).toEqual([
        `${TABLE} ${test}: is_test is false, the events say true`,
      ]);
    });

    it('one of no event, and one of an event that the endpoint did not ask for', async () => {
      const copy = `insert into webhooks.deliveries (delivery_id, endpoint_id, merchant_id, type, body, is_test)
        select planted, endpoint_id, merchant_id, type, body, is_test
        from webhooks.deliveries, unnest($2::uuid[]) as planted where delivery_id = $1`;
      const planted = ['00000000-0000-0000-0000-000000000000', newId()];
      expect(await after(copy, delivery, planted)).toEqual(
        planted.map((id) => `${TABLE} ${id}: a row, the events say that there is none`),
      );
      await webhooks.change(endpoint, { event_types: ['payout.failed'] });
      await webhooks.publish();
      const [{ id } = { id: '' }] = await app.database.query<{ id: string }>(
        `select id from event_store.events where type = 'payout.received.v2' order by position desc limit 1`,
      );
      const unasked = deriveId(id, endpoint);
      expect(await after(copy, delivery, [unasked])).toEqual([
        `${TABLE} ${unasked}: a row, the events say that there is none`,
      ]);
    });

    it('one that is gone, unless its time is over', async () => {
      const remove = 'delete from webhooks.deliveries where delivery_id = $1';
      const gone = [`${TABLE} ${delivery}: no row, the events say that there is one`];
      expect(await after(remove, delivery)).toEqual(gone);
      const age = (sign: string): Promise<unknown> =>
        app.database.query(
          `update event_store.events set recorded_at = recorded_at ${sign} interval '400 days'`,
        );
      await age('-');
      try {
        expect(await after(remove, delivery)).toEqual([]);
      } finally {
        await age('+');
      }
    });

    it.each([
      [
        'succeeded, although no attempt did',
        `state = 'succeeded', attempts = 7`,
        'state is succeeded, and no attempt succeeded',
      ],
      [
        'exhausted, although an attempt succeeded',
        `state = 'exhausted'`,
        'state is exhausted, and no attempt says so',
      ],
      [
        'pending, although an attempt succeeded',
        `state = 'pending', due_at = 'infinity'`,
        'state is pending, and an attempt succeeded',
      ],
      [
        'dropped, although the endpoint is enabled',
        `state = 'dropped', created_at = created_at + interval '1 hour'`,
        'state is dropped, and the endpoint was never disabled since',
      ],
      ['resent without a request', `resent_position = '3'`, 'resent_position is 3, the events say null'],
    ])('one that is %s', async (_name, change, wrong) => {
      expect(await set(change)).toEqual([`${TABLE} ${delivery}: ${wrong}`]);
    });

    it('one that is pending, although its endpoint was disabled and no resend was requested', async () => {
      await webhooks.change(endpoint, { status: 'disabled' });
      await webhooks.publish();
      const dropped = (await webhooks.settled(endpoint, 3)).find(({ status }) => status === 'dropped')!.id;
      expect(await set(`state = 'pending', finished_at = null, due_at = 'infinity'`, dropped)).toEqual([
        `${TABLE} ${dropped}: state is pending, the events say dropped`,
      ]);
    });
  });
});
