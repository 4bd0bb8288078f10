import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { EVENT_STORE, type EventStore } from '../../../src/platform/event-store/port.js';
import { newId } from '../../../src/kernel/ids.js';
import { SettleDeactivation } from '../../../src/contexts/payouts/application/deactivation-worker.js';
import { CreateUser } from '../../../src/contexts/users/application/create-user.js';
import { StartDeactivation } from '../../../src/contexts/users/application/user-commands.js';
import { ACT } from '../../support/onboarding/people.js';
import { eventually } from '../../support/eventually.js';
import { plainTicket, startPeople, type People } from '../../support/onboarding/people.js';

const MERCHANT = newId();

describe('the deactivation of a user', () => {
  let people: People;
  let store: EventStore;

  beforeAll(async () => {
    people = await startPeople({ audited: false });
    store = people.module.get(EVENT_STORE, { strict: false });
  });
  afterAll(() => people.close());

  let number = 0;
  const createUser = async (): Promise<string> => {
    const [userId, phone] = [newId(), `+1555${String(++number).padStart(7, '0')}`];
    await people.commandBus.execute(
      new CreateUser(MERCHANT, { phone_number: phone }, plainTicket(userId), {}),
    );
    return userId;
  };
  const payout = async (payoutId: string, type: string, userId: string): Promise<void> => {
    const event = { id: newId(), type, data: { payout_id: payoutId, user_id: userId }, metadata: {} };
    const expected = type === 'payout.reported.v1' ? 'no_stream' : 0;
    await store.commit({ appends: [{ stream: `payout-${payoutId}`, events: [event], expected }] });
  };
  const accountState = async (userId: string): Promise<string | undefined> =>
    (await people.users.find(MERCHANT, userId))?.accountState;
  const until = (userId: string, state: string): Promise<true> =>
    eventually(async () => (await accountState(userId)) === state);

  it('waits for the last pending payout, and refuses to be hurried', async () => {
    const [userId, one, two] = [await createUser(), newId(), newId()];
    await payout(one, 'payout.reported.v1', userId);
    await payout(two, 'payout.reported.v1', userId);
    await people.commandBus.execute(new StartDeactivation(userId, ACT));
    await payout(one, 'payout.received.v2', userId);
    const refusal = async (): Promise<string> => {
      for (;;) {
        const error = await people.commandBus.execute(new SettleDeactivation(userId)).then(
          () => ({ code: 'done', message: '' }),
          (thrown: { code: string; message: string }) => thrown,
        );
        // Both payouts are pending until the saga has seen the end of the first.
        if (error.code !== 'unavailable' && !error.message.startsWith('2 '))
          return `${error.code}: ${error.message}`;
        await wait(10);
      }
    };
    expect(await refusal()).toBe('invalid_transition: 1 payouts of the user are pending');
    expect(await accountState(userId)).toBe('deactivating');
    await payout(two, 'payout.received.v2', userId);
    await until(userId, 'deactivated');
  });
});
