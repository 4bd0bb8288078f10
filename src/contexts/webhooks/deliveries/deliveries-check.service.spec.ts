import { afterEach, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { WebhookHistory } from '../../../../test/support/webhooks/webhook-history.js';
import { ALL_CONTEXTS } from '../../../composition.js';
import { newId } from '../../../kernel/ids.js';
import { knownEvents, type CheckedTables } from '../../../platform/context.js';
import { EventCodec } from '../../../platform/event-store/event-codec.js';
import { DeliveriesCheck } from './deliveries-check.service.js';
import { deliveriesSaga } from './deliveries.saga.js';
import { publishedBy } from './published-events.service.js';
import { webhooksConfig } from '../webhooks.config.js';

const db = onTestDatabase();
afterEach(() => db.database.query('delete from webhooks.endpoint_snapshots'));

const config = { ...webhooksConfig({}), webhookDisableWindowSeconds: 0 };
const saga = deliveriesSaga(
  publishedBy(ALL_CONTEXTS),
  () => undefined,
  () => 'mac',
);

function codec(): EventCodec {
  return new EventCodec().register(knownEvents(ALL_CONTEXTS));
}

it.each([
  [
    'accepts a deleted delivery of an erased user, even if the checkpoint is 1 event before the erasure',
    true,
    0,
  ],
  ['reports a deleted delivery of a user who was not erased', false, 1],
])('the check of deliveries %s', async (_title, isErased, different) => {
  const [history, endpoint, user] = [new WebhookHistory(), newId(), newId()];
  const started = { user_id: user, at: '2026-01-01T00:00:00.000Z' };
  const before = [history.registered(endpoint), history.event('onboarding.started.v1', started)];
  await db.database.transaction((tx) => saga.apply(before, tx));
  await db.database.query('delete from webhooks.deliveries');
  const erased = history.event('user.erased.v1', { user_id: user });
  const query: CheckedTables['query'] = (sql, values) => db.database.query(sql, [...values]) as never;
  const check = new DeliveriesCheck({
    query,
    config,
    sealer: null,
    codec: codec(),
    contexts: ALL_CONTEXTS,
    position: before.at(-1)!.position,
  });

  await check.add(isErased ? [...before, erased] : before);

  expect(await check.compare()).toMatchObject([{ table: 'webhooks.deliveries', rows: 0, different }]);
});
