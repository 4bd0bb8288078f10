import { afterAll, describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { DeactivationsProcessor } from '../../../src/contexts/payouts/deactivation/deactivations.processor.js';
import {
  CreateUser,
  StartDeactivation,
  UserClaims,
} from '../../../src/contexts/users/users/users.commands.js';
import { newId } from '../../../src/kernel/ids.js';
import { EVENT_STORE, type EventStore } from '../../../src/platform/event-store/port.js';
import { eventually } from '../../support/eventually.js';
import { ACT, plainTicket, startPeople } from '../../support/onboarding/people.js';
import { randomPhone } from '../../support/payouts/payout-calls.js';

const MERCHANT = newId();

// An audit rejects payouts without a report.
const people = await startPeople({ audited: false });
afterAll(() => people.close());
const claims = people.module.get(UserClaims, { strict: false });

async function create(phone = randomPhone(), externalId: string | null = null): Promise<string> {
  const userId = newId();
  const profile = { phone_number: phone, external_id: externalId };
  await people.commandBus.execute(new CreateUser(MERCHANT, profile, plainTicket(userId), {}));
  return userId;
}

const start = (userId: string): Promise<unknown> =>
  people.commandBus.execute(new StartDeactivation(userId, {}, { id: 'operation', ...ACT }));
const accountState = async (userId: string) => (await people.users.get(MERCHANT, userId)).account_state;
const untilDeactivated = (userId: string): Promise<true> =>
  eventually(async () => (await accountState(userId)) === 'deactivated');

describe('the deactivation of a user', () => {
  const payout = async (payoutId: string, type: string, userId: string): Promise<void> => {
    const store = people.module.get<EventStore>(EVENT_STORE, { strict: false });
    const at = new Date().toISOString();
    const ids = { payout_id: payoutId, merchant_id: MERCHANT, user_id: userId };
    const transfer = { amount: '1', currency_code: 'USDC', transaction_hash: '0x1', log_index: 0 };
    const rest = { custom_metadata: '{}', chain_id: 1, created_at: at, expires_at: at };
    const event = { id: newId(), type, data: { ...ids, ...transfer, ...rest }, metadata: {} };
    const expected = type === 'payout.reported.v1' ? 'no_stream' : 0;
    await store.commit({ appends: [{ stream: `payout-${payoutId}`, events: [event], expected }] });
  };

  it('waits for the last pending payout and cannot be forced earlier', async () => {
    const [userId, one, two] = [await create(), newId(), newId()];
    await payout(one, 'payout.reported.v1', userId);
    await payout(two, 'payout.reported.v1', userId);
    await start(userId);
    await payout(one, 'payout.received.v2', userId);
    const worker = people.module.get(DeactivationsProcessor, { strict: false });
    const refusal = async (): Promise<string> => {
      for (;;) {
        const error = await worker.complete(userId).then(
          () => ({ code: 'done', message: '' }),
          (thrown: { code: string; message: string }) => thrown,
        );
        // Both payouts are pending until the read model has the end of the first.
        if (error.code !== 'unavailable' && !error.message.startsWith('2 '))
          return `${error.code}: ${error.message}`;
        await wait(10);
      }
    };
    expect(await refusal()).toBe('invalid_transition: 1 payouts of the user are pending');
    expect(await accountState(userId)).toBe('deactivating');
    await payout(two, 'payout.received.v2', userId);
    await untilDeactivated(userId);
  });
});

/** Returns the present holder of a number, or the last one. */
const holderOf = async (phone: string): Promise<string | undefined> => {
  const holders = await claims.findHolders(phone, [MERCHANT]);
  const states = await Promise.all(holders.map(accountState));
  return holders.find((_, n) => states[n] !== 'deactivated') ?? holders[0];
};

describe('the phone number of a user', () => {
  it('is free again once the user is deactivated, however often that happens', async () => {
    const phone = randomPhone();
    for (let holder = 0; holder < 3; holder += 1) {
      const userId = await create(phone);
      expect(await holderOf(phone)).toBe(userId);
      await expect(create(phone)).rejects.toMatchObject({ code: 'validation_failed' });
      await start(userId);
      await untilDeactivated(userId);
      // Operators find the last holder until another user has the number.
      expect(await holderOf(phone)).toBe(userId);
    }
  });
});

describe('a subscriber with two numbers', () => {
  const numbers = (rest: string): [string, string, string][] => [
    ['Mexico', `+52155${rest}`, `+5255${rest}`],
    ['Argentina', `+5411${rest}`, `+54911${rest}`],
    ['Brazil', `+55118${rest.slice(1)}`, `+551198${rest.slice(1)}`],
    ['Benin', `+2299${rest.slice(1)}`, `+229019${rest.slice(1)}`],
    ['Ivory Coast', `+22507${rest.slice(2)}`, `+2250707${rest.slice(2)}`],
  ];

  it.each(numbers('12345678'))('is one user under both: %s, %s and %s', async (_, former, current) => {
    for (const [first, second] of [
      [former, current],
      [current, former],
    ] as const) {
      const userId = await create(first);
      await expect(create(second)).rejects.toMatchObject({ fields: { phone_number: expect.anything() } });
      expect(await claims.findHolders(second, [MERCHANT])).toEqual([userId]);
      await start(userId);
      await untilDeactivated(userId);
    }
  });

  it('is created once by concurrent requests under both numbers', async () => {
    const rest = '1123456789';
    const tried = Array.from({ length: 12 }, (_, n) =>
      create(`+54${n % 2 ? 9 : ''}${rest}`).catch(() => null),
    );
    expect((await Promise.all(tried)).filter((id) => id !== null)).toHaveLength(1);
  });
});
