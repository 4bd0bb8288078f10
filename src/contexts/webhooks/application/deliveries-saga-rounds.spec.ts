import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { expectOrderedLocks } from '../../../../test/support/database/lock-order.js';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import { WebhookHistory } from '../../../../test/support/webhooks/webhook-history.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { deriveId, newId } from '../../../kernel/ids.js';
import { ALL_CONTEXTS } from '../../../composition.js';
import { publishedBy } from './published-events.js';
import { deliveriesSaga } from './deliveries-saga.js';

let db: TestDatabase;
let woken: string[];
const saga = deliveriesSaga(
  publishedBy(ALL_CONTEXTS),
  (ids) => woken.push(...ids),
  () => 'mac',
);
const at = '2026-01-01T00:00:00.000Z';
let history: WebhookHistory;
let endpoint: string;
let delivery: string;

beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  history = new WebhookHistory();
  endpoint = newId();
  const [registered, received] = [history.registered(endpoint), history.received()];
  delivery = deriveId(received.id, endpoint);
  await handle(registered, received);
  woken = [];
});

async function handle(...events: RecordedEvent[]): Promise<void> {
  await db.database.transaction((tx) => saga.apply(events, tx));
}

const resend = (is_test = false) =>
  history.event('webhook_delivery.resend_requested.v1', {
    resend_id: newId(),
    delivery_id: delivery,
    endpoint_id: endpoint,
    is_test,
    requested_at: at,
  });
const recovery = (recovery_id = newId()) =>
  history.event('webhook_endpoint.recovery_requested.v1', {
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
    const received = Array.from({ length: 30 }, () => history.received());
    await handle(...received);
    const ids = received.map(({ id }) => deriveId(id, endpoint)).sort();
    const resends = ids.toReversed().map((delivery_id) =>
      history.event('webhook_delivery.resend_requested.v1', {
        resend_id: newId(),
        delivery_id,
        endpoint_id: endpoint,
        is_test: false,
        requested_at: at,
      }),
    );
    await expectOrderedLocks(db, ids, () => handle(...resends));
  });

  it('begins a new round of a finished delivery, due at once, and wakes its lane', async () => {
    await become(exhausted);
    await handle(resend());
    expect(await row()).toEqual({ ...newRound, resend_requested: false });
    saga.afterCommit?.([]);
    expect(woken).toEqual([endpoint]);
  });

  it('happens once, however often it is seen', async () => {
    await become(exhausted);
    const event = resend();
    await handle(event, event);
    await become(`state = 'succeeded', attempts = 12, finished_at = now()`);
    const after = await row();
    await handle(event);
    expect(await row()).toEqual(after);
    await handle(resend());
    expect(await row()).toMatchObject({ state: 'pending', attempts: 12, attempts_before: 12 });
  });

  it('makes a pending delivery due now', async () => {
    await become(`attempts = 4, due_at = now() + interval '1 hour'`);
    await handle(resend());
    expect(await row()).toMatchObject({ state: 'pending', attempts_before: 4, due: true });
  });

  it('leaves a delivery to the process that is sending it, and says so to it', async () => {
    await become(`attempts = 4, leased_by = gen_random_uuid()`);
    await handle(resend());
    expect(await row()).toMatchObject({ attempts_before: 0, resend_requested: true, free: false });
  });

  it('does nothing when the endpoint was disabled meanwhile, unless it is a test', async () => {
    await become(exhausted);
    await handle(history.changed('disabled', endpoint), resend());
    expect(await row()).toMatchObject({ state: 'exhausted' });
    await handle(resend(true));
    expect(await row()).toMatchObject({ state: 'pending' });
  });

  it('does nothing when the endpoint is deleted, before or after it', async () => {
    await become(exhausted);
    await handle(resend(), history.changed('deleted', endpoint));
    expect(await row()).toMatchObject({ state: 'dropped' });
    await handle(resend(true));
    expect(await row()).toMatchObject({ state: 'dropped' });
  });

  it('of a delivery that is no longer kept does no harm', async () => {
    await db.database.query('delete from webhooks.deliveries where delivery_id = $1', [delivery]);
    await handle(resend());
    expect(await row()).toBeUndefined();
  });
});

describe('a recovery', () => {
  const recoveries = () =>
    db.database.query(
      'select recovery_id, since, finished_at from webhooks.recoveries where endpoint_id = $1',
      [endpoint],
    );

  it('is recorded once, however often it is seen', async () => {
    const [one, other] = [recovery(), recovery()];
    await handle(one, one, other);
    await handle(one);
    expect(await recoveries()).toHaveLength(2);
    expect((await recoveries())[0]).toMatchObject({ since: new Date(at), finished_at: null });
  });

  it('does nothing when the endpoint was disabled or deleted meanwhile', async () => {
    await handle(history.changed('disabled', endpoint), recovery());
    await handle(history.changed('deleted', endpoint), recovery());
    expect(await recoveries()).toEqual([]);
  });
});
