import { beforeEach, describe, expect, it } from '@jest/globals';
import { expectOrderedLocks } from '../../../../test/support/database/lock-order.js';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { WebhookHistory } from '../../../../test/support/webhooks/webhook-history.js';
import { insertDeliveries } from '../../../../test/support/webhooks/webhook-rows.js';
import type { JsonObject, RecordedEvent } from '../../../platform/event-store/port.js';
import { deriveId, newId } from '../../../kernel/ids.js';
import { ALL_CONTEXTS } from '../../../composition.js';
import { publishedBy } from './published-events.service.js';
import { deliveriesSaga } from './deliveries.saga.js';
import { DROPPED_AT_ONCE } from './saga-rows.store.js';

const db = onTestDatabase();
let woken: string[] = [];
const saga = deliveriesSaga(
  publishedBy(ALL_CONTEXTS),
  (ids) => woken.push(...ids),
  () => 'mac',
);
const at = '2026-01-01T00:00:00.000Z';
let history: WebhookHistory;
let merchant: string;

beforeEach(() => {
  history = new WebhookHistory();
  merchant = history.merchant;
  woken = [];
});

const event = (type: string, data: JsonObject) => history.event(type, data);
const registered = (id: string, types: string[] | null = null) => history.registered(id, types);
const changed = (to: 'enabled' | 'disabled' | 'deleted', id: string) => history.changed(to, id);
const received = () => history.received();
const facts = { payout_id: 'p', user_id: 'u', amount: '2', currency_code: 'USDC', transaction_hash: '0x1' };

async function handle(...events: RecordedEvent[]): Promise<void> {
  await db.database.transaction((tx) => saga.apply(events, tx));
}

const deliveries = () =>
  db.database.query<Record<'delivery_id' | 'endpoint_id' | 'type' | 'body' | 'state', string>>(
    'select delivery_id, endpoint_id, type, body, state, is_test from webhooks.deliveries where merchant_id = $1',
    [merchant],
  );

describe('the deliveries saga', () => {
  it('creates one delivery per enabled endpoint, with the envelope of the contract', async () => {
    const [one, other] = [newId(), newId()];
    const events = [registered(one), registered(other), received()];
    await handle(...events);
    const rows = await deliveries();
    expect(rows.map((row) => row.endpoint_id).sort()).toEqual([one, other].sort());
    const id = deriveId(events[2]!.id, one);
    expect(rows.find((row) => row.endpoint_id === one)).toMatchObject({
      delivery_id: id,
      type: 'payout.received',
      body:
        `{"id":"${id}","type":"payout.received","occurred_at":"${at}","merchant_id":"${merchant}","data":{"payout_id":"p",` +
        `"user_id":"u","amount":"1.50","currency_code":"USDC","transaction_hash":"0xAb","custom_metadata":${WebhookHistory.METADATA}}}`,
    });
    saga.afterCommit?.([]);
    expect(woken.sort()).toEqual([one, other].sort());
  });

  it('publishes an expired payout as payout.failed with the reason', async () => {
    const end = { custom_metadata: '{}', chain_id: 1, reason: 'not found', expired_at: at };
    await handle(registered(newId()), event('payout.expired.v1', { ...facts, ...end }));
    const [row] = await deliveries();
    expect(row!.type).toBe('payout.failed');
    expect(row!.body).toContain(
      '"data":{"payout_id":"p","user_id":"u","amount":"2","currency_code":"USDC","reason":"not found","custom_metadata":{}}',
    );
  });

  const [reason, wallet] = [{ reason: 'blurred' }, { issuer_wallet_address: '0xA' }];
  it.each([
    ['onboarding.started.v1', 'user.onboarding_started', {}, {}],
    ['onboarding.kyc_submitted.v1', 'user.kyc_submitted', { verification_id: 'v' }, {}],
    ['onboarding.kyc_passed.v1', 'user.kyc_passed', { verification_id: 'v' }, {}],
    ['onboarding.kyc_failed.v1', 'user.kyc_failed', reason, reason],
    ['onboarding.completed.v1', 'user.onboarding_completed', wallet, wallet],
  ])('publishes %s as %s', async (stored, type, more, published) => {
    await handle(registered(newId()), event(stored, { user_id: 'u', at, ...more }));
    const [row] = await deliveries();
    const [id, data] = [row!.delivery_id, { user_id: 'u', ...published }];
    expect(JSON.parse(row!.body)).toEqual({ id, type, occurred_at: at, merchant_id: merchant, data });
  });

  it('changes nothing if events are repeated, even after the endpoint has changed', async () => {
    const endpoint = newId();
    const events = [
      registered(endpoint),
      received(),
      changed('disabled', endpoint),
      received(),
      changed('enabled', endpoint),
    ];
    for (const each of events) await handle(each, each);
    const once = await deliveries();
    expect(once.map((row) => row.state).sort()).toEqual(['dropped', 'pending']);
    await handle(...events);
    expect(await deliveries()).toEqual(once);
  });

  it('writes nothing if it is killed before its checkpoint, and applies the events again later', async () => {
    const endpoint = newId();
    const events = [registered(endpoint), received()];
    const killed = db.database.transaction(async (tx) => {
      await saga.apply(events, tx);
      throw new Error('killed');
    });
    await expect(killed).rejects.toThrow('killed');
    expect(await deliveries()).toEqual([]);
    await handle(...events);
    expect(await deliveries()).toHaveLength(1);
  });

  it('records deliveries of a disabled endpoint as dropped, only for its own event types', async () => {
    const [one, other, failed] = [newId(), newId(), newId()];
    await handle(registered(one), registered(other), changed('disabled', one));
    await handle(registered(failed, ['payout.failed']), changed('disabled', failed));
    const expired = event('payout.expired.v1', { ...facts, custom_metadata: '{}', expired_at: at });
    await handle(received(), expired, changed('enabled', one));
    const states = async (id: string) =>
      (await deliveries()).filter((row) => row.endpoint_id === id).map((row) => row.state);
    expect(await states(one)).toEqual(['dropped', 'dropped']);
    expect(await states(other)).toEqual(['pending', 'pending']);
    expect(await states(failed)).toEqual(['dropped']);
    saga.afterCommit?.([]);
    expect(woken).not.toContain(one);
    await handle(received());
    expect((await states(one)).sort()).toEqual(['dropped', 'dropped', 'pending']);
    const unfinished = `select 1 from webhooks.deliveries where (state = 'pending') <> (finished_at is null)`;
    expect(await db.database.query(unfinished)).toEqual([]);
  });

  it('creates no delivery for the endpoints of another merchant', async () => {
    const events = [registered(newId()), received()];
    await handle(events[0]!, { ...events[1]!, data: { ...events[1]!.data, merchant_id: newId() } });
    expect(await deliveries()).toEqual([]);
  });

  it('creates a test delivery with the requested id, even if the endpoint is disabled', async () => {
    const [endpoint_id, delivery_id] = [newId(), newId()];
    await handle(registered(endpoint_id, ['payout.failed']), changed('disabled', endpoint_id));
    const requested = { endpoint_id, delivery_id, message: 'hi', occurred_at: at };
    await handle(event('webhook_endpoint.test_requested.v1', requested));
    const [row] = await deliveries();
    expect(row).toMatchObject({ delivery_id, type: 'webhook_endpoint.test', is_test: true });
    expect(JSON.parse(row!.body)).toMatchObject({
      id: delivery_id,
      data: { webhook_endpoint_id: endpoint_id, message: 'hi' },
    });
  });

  it('drops the pending deliveries of a deleted endpoint and creates no more for it', async () => {
    const endpoint = newId();
    await handle(registered(endpoint), received());
    await handle(received(), changed('deleted', endpoint), received());
    expect((await deliveries()).map((row) => row.state)).toEqual(['dropped', 'dropped']);
  });

  it('drops the backlog of a deleted endpoint in parts, so that other endpoints do not wait', async () => {
    const endpoint = newId();
    await handle(registered(endpoint));
    await insertDeliveries(db.database, endpoint, DROPPED_AT_ONCE + 10, { merchant_id: `'${merchant}'` });
    await handle(changed('deleted', endpoint));
    expect((await deliveries()).filter(({ state }) => state === 'pending')).toHaveLength(10);
  });
});

describe('deliveries of event types that an endpoint must list to receive', () => {
  const order = { order_id: 'o', key_id: 'k', at, status: 'failed', amount_refundable: '40' };

  it('are created only for endpoints that list them', async () => {
    const [all, listing] = [newId(), newId()];
    await handle(registered(all), registered(listing, ['order.completed', 'payout.received']));
    await handle(event('order.completed.v1', order), received());
    const typesOf = async (id: string) =>
      (await deliveries()).flatMap((row) => (row.endpoint_id === id ? [row.type] : [])).sort();
    expect(await typesOf(all)).toEqual(['payout.received']);
    expect(await typesOf(listing)).toEqual(['order.completed', 'payout.received']);
  });

  it('are created once for each type of an event, even if the event is repeated', async () => {
    const [endpoint, few] = [newId(), newId()];
    await handle(registered(endpoint, ['order.failed', 'order.refundable']));
    await handle(registered(few, ['order.refundable']));
    const failed = event('order.failed.v1', { ...order, reason: 'no_liquidity', refundable: '40' });
    await handle(failed, failed);
    const once = await deliveries();
    const idsOf = (id: string, ...types: string[]) => types.map((type) => deriveId(failed.id, id, type));
    expect(once.map((row) => row.delivery_id).sort()).toEqual(
      [...idsOf(endpoint, 'order.failed', 'order.refundable'), ...idsOf(few, 'order.refundable')].sort(),
    );
    const about = '"order_id":"o","api_key":"k","status":"failed","amount_refundable":"40"';
    for (const { type, body } of once) {
      const last = type === 'order.failed' ? '"reason":"no_liquidity"' : '"cause":"failed"';
      expect(body).toContain(`"data":{${about},${last}}}`);
    }
    await handle(failed);
    expect(await deliveries()).toEqual(once);
  });

  it('are not created for an event without published content', async () => {
    const none = { ...order, amount_refundable: '0', refundable: '0' };
    await handle(registered(newId(), ['order.refundable']), event('order.cancelled.v1', none));
    expect(await deliveries()).toEqual([]);
  });
});

describe('once a delivery was created', () => {
  let endpoint: string;
  let delivery: string;
  beforeEach(async () => {
    endpoint = newId();
    const [begun, published] = [registered(endpoint), received()];
    delivery = deriveId(published.id, endpoint);
    await handle(begun, published);
    woken = [];
  });

  const resend = (is_test = false, delivery_id = delivery) =>
    event('webhook_delivery.resend_requested.v1', {
      resend_id: newId(),
      delivery_id,
      endpoint_id: endpoint,
      is_test,
      requested_at: at,
    });
  const recovery = (recovery_id = newId()) =>
    event('webhook_endpoint.recovery_requested.v1', {
      recovery_id,
      endpoint_id: endpoint,
      since: at,
      requested_at: at,
    });

  const become = (assignments: string) =>
    db.database.query(`update webhooks.deliveries set ${assignments} where delivery_id = $1`, [delivery]);

  async function row() {
    const [found] = await db.database.query<Record<string, unknown>>(
      `select state, attempts, attempts_before, resend_requested, finished_at is null as open, leased_by is null as free,
         due_at <= clock_timestamp() as due
       from webhooks.deliveries where delivery_id = $1`,
      [delivery],
    );
    return found;
  }
  const exhausted = `state = 'exhausted', attempts = 11, finished_at = now(), due_at = now() + interval '1 day'`;
  const newRound = { state: 'pending', attempts: 11, attempts_before: 11, open: true, free: true, due: true };

  describe('a resend', () => {
    it('locks deliveries in the order of their ids, as senders do', async () => {
      const published = Array.from({ length: 30 }, received);
      await handle(...published);
      const ids = published.map(({ id }) => deriveId(id, endpoint)).sort();
      const resends = ids.toReversed().map((id) => resend(false, id));
      await expectOrderedLocks(db, ids, () => handle(...resends));
    });

    it('starts a new round for a finished delivery, due at once, and wakes its sender', async () => {
      await become(exhausted);
      await handle(resend());
      expect(await row()).toEqual({ ...newRound, resend_requested: false });
      saga.afterCommit?.([]);
      expect(woken).toEqual([endpoint]);
    });

    it('starts one new round, however often its event is applied', async () => {
      await become(exhausted);
      const again = resend();
      await handle(again, again);
      await become(`state = 'succeeded', attempts = 12, finished_at = now()`);
      const after = await row();
      await handle(again);
      expect(await row()).toEqual(after);
      await handle(resend());
      expect(await row()).toMatchObject({ state: 'pending', attempts: 12, attempts_before: 12 });
    });

    it('makes a pending delivery due now', async () => {
      await become(`attempts = 4, due_at = now() + interval '1 hour'`);
      await handle(resend());
      expect(await row()).toMatchObject({ state: 'pending', attempts_before: 4, due: true });
    });

    it('does not interrupt a delivery in flight, and requests a new round after the attempt', async () => {
      await become(`attempts = 4, leased_by = gen_random_uuid()`);
      await handle(resend());
      expect(await row()).toMatchObject({ attempts_before: 0, resend_requested: true, free: false });
    });

    it('has no effect if the endpoint was disabled meanwhile, unless the delivery is a test', async () => {
      await become(exhausted);
      await handle(changed('disabled', endpoint), resend());
      expect(await row()).toMatchObject({ state: 'exhausted' });
      await handle(resend(true));
      expect(await row()).toMatchObject({ state: 'pending' });
    });

    it('has no effect if the endpoint was deleted before or after the resend', async () => {
      await become(exhausted);
      await handle(resend(), changed('deleted', endpoint));
      expect(await row()).toMatchObject({ state: 'dropped' });
      await handle(resend(true));
      expect(await row()).toMatchObject({ state: 'dropped' });
    });
  });

  describe('a recovery', () => {
    const recoveries = () =>
      db.database.query(
        'select recovery_id, since, finished_at from webhooks.recoveries where endpoint_id = $1',
        [endpoint],
      );

    it('is recorded once, however often its event is applied', async () => {
      const [one, other] = [recovery(), recovery()];
      await handle(one, one, other);
      await handle(one);
      expect(await recoveries()).toHaveLength(2);
      expect((await recoveries())[0]).toMatchObject({ since: new Date(at), finished_at: null });
    });

    it('has no effect if the endpoint was disabled or deleted meanwhile', async () => {
      await handle(changed('disabled', endpoint), recovery());
      await handle(changed('deleted', endpoint), recovery());
      expect(await recoveries()).toEqual([]);
    });
  });
});
