import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomInt } from 'node:crypto';
import { LocateUser } from '../../../src/contexts/users/application/locate-user.js';
import { StartDeactivation } from '../../../src/contexts/users/application/user-commands.js';
import { CreateUser } from '../../../src/contexts/users/application/create-user.js';
import { newId } from '../../../src/kernel/ids.js';
import { eventually } from '../../support/eventually.js';
import { ACT, plainTicket, startPeople, type People } from '../../support/onboarding/people.js';

const MERCHANT = newId();

describe('the phone number of a user', () => {
  let people: People;
  beforeAll(async () => {
    people = await startPeople();
  });
  afterAll(() => people.close());

  const randomPhone = (): string => `+1555${String(randomInt(10_000_000)).padStart(7, '0')}`;
  const create = async (phone: string, externalId: string | null = null): Promise<string> => {
    const userId = newId();
    const profile = { phone_number: phone, external_id: externalId };
    await people.commandBus.execute(new CreateUser(MERCHANT, profile, plainTicket(userId), {}));
    return userId;
  };
  const tried = (phone: string): Promise<string | null> => create(phone).catch(() => null);
  const start = (userId: string): Promise<unknown> =>
    people.commandBus.execute(new StartDeactivation(userId, ACT));
  const leave = async (userId: string): Promise<void> => {
    await start(userId);
    await eventually(async () => (await people.users.find(MERCHANT, userId))?.accountState === 'deactivated');
  };
  const holderOf = async (phone: string): Promise<string | undefined> =>
    (await people.module.get(LocateUser).by({ merchantId: MERCHANT, phoneNumber: phone }))?.userId;

  it('is free again once the user is deactivated, as often as that happens', async () => {
    const phone = randomPhone();
    for (let holder = 0; holder < 3; holder += 1) {
      const userId = await create(phone);
      expect(await holderOf(phone)).toBe(userId);
      await expect(create(phone)).rejects.toMatchObject({ code: 'validation_failed' });
      await leave(userId);
      // Until somebody else has it, operators still find who had it last.
      expect(await holderOf(phone)).toBe(userId);
    }
  });

  it('goes to one of many concurrent users when its user is deactivated', async () => {
    for (let round = 0; round < 5; round += 1) {
      const phone = randomPhone();
      const former = await create(phone);
      await start(former);
      const won: string[] = [];
      const deadline = performance.now() + 10_000;
      // The deactivation is completed by a worker, somewhere among these.
      while (won.length === 0 && performance.now() < deadline) {
        const users = await Promise.all(Array.from({ length: 8 }, () => tried(phone)));
        won.push(...users.filter((id) => id !== null));
      }
      expect(won).toHaveLength(1);
      expect(await holderOf(phone)).toBe(won[0]);
      expect(await tried(phone)).toBeNull();
    }
  });

  it('does not free the external id of the former user', async () => {
    const [phone, externalId] = [randomPhone(), `crm-${newId()}`];
    await leave(await create(phone, externalId));
    await expect(create(phone, externalId)).rejects.toMatchObject({
      fields: { external_id: ['is taken by another user'] },
    });
    // The refused creation did not take the number.
    expect(await tried(phone)).not.toBeNull();
  });
});
