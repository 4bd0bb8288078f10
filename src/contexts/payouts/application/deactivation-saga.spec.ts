import { describe, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { newId } from '../../../kernel/ids.js';
import { deactivationSaga } from './deactivation-saga.js';

describe('the saga of deactivations', () => {
  const saga = deactivationSaga(() => undefined, { atomic: true });
  const db = onTestDatabase();
  let position = 0;

  const event = (type: string, userId: string): RecordedEvent => ({
    id: newId(),
    type,
    data: { user_id: userId },
    metadata: {},
    stream: `some-${newId()}`,
    revision: 0,
    position: String(++position),
    recordedAt: new Date(),
  });
  const apply = (events: readonly RecordedEvent[]): Promise<void> =>
    db.database.transaction((tx) => saga.apply(events, tx));
  const row = async (userId: string): Promise<unknown> => {
    const rows = await db.database.query<{ pending: number; deactivating: boolean }>(
      'select pending_payouts::int as pending, deactivating from payouts.deactivations where user_id = $1',
      [userId],
    );
    return rows[0];
  };

  it('counts pending payouts of each user, also of events that come twice', async () => {
    const [one, two] = [newId(), newId()];
    const history = [
      event('payout.reported.v1', one),
      event('payout.reported.v1', two),
      event('payout.reported.v1', one),
      event('payout.received.v2', one),
      event('payout.reported.v1', one),
      event('payout.expired.v1', one),
      event('user.deactivation_started.v1', one),
    ];
    await apply(history);
    await apply(history);
    for (const each of history) await apply([each, each]);
    expect(await row(one)).toEqual({ pending: 1, deactivating: true });
    expect(await row(two)).toEqual({ pending: 1, deactivating: false });
    const last = [event('payout.received.v2', one)];
    await apply(last);
    await apply(last);
    expect(await row(one)).toEqual({ pending: 0, deactivating: true });
    await apply([event('user.deactivated.v1', one)]);
    expect(await row(one)).toEqual({ pending: 0, deactivating: false });
  });

  it('takes positions of different lengths in their order', async () => {
    const userId = newId();
    const reported = event('payout.reported.v1', userId);
    await apply([{ ...reported, position: '999' }]);
    await apply([{ ...event('payout.received.v2', userId), position: '1000' }]);
    await apply([{ ...reported, position: '999' }]);
    expect(await row(userId)).toEqual({ pending: 0, deactivating: false });
  });
});
