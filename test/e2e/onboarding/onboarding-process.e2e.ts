import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SandboxWallets } from '../../../src/contexts/onboarding/adapters/sandbox-providers.js';
import { OnboardingSteps } from '../../../src/contexts/onboarding/application/onboarding-steps.js';
import { StartOnboarding } from '../../../src/contexts/onboarding/application/person-commands.js';
import {
  SendPhoneCode,
  VerifyPhone,
} from '../../../src/contexts/onboarding/application/phone-verification.js';
import { SMS_INBOX, type SmsInbox } from '../../../src/contexts/onboarding/application/ports.js';
import { stepsSaga } from '../../../src/contexts/onboarding/application/steps-worker.js';
import { CreateUser } from '../../../src/contexts/users/application/create-user.js';
import { newId } from '../../../src/kernel/ids.js';
import { EVENT_STORE, type EventStore } from '../../../src/platform/event-store/port.js';
import { KeyRing } from '../../../src/platform/sealing/key-ring.js';
import { eventually } from '../../support/eventually.js';
import { BROWSER, eventsOf, MERCHANT, REQUEST, submitted } from '../../support/onboarding/onboard.js';
import { plainTicket, startPeople, type People } from '../../support/onboarding/people.js';

const WHOLE_HISTORY = [
  ...['started.v1', 'phone_verified.v1', 'consent_given.v1', 'details_confirmed.v1', 'kyc_submitted.v1'],
  ...['kyc_passed.v1', 'wallet_provisioned.v1', 'card_issued.v1', 'completed.v1'],
];

describe('the onboarding process', () => {
  let people: People;
  beforeAll(async () => {
    people = await startPeople();
  });
  afterAll(() => people.close());

  const completed = async (userId: string): Promise<void> => {
    await eventually(async () => (await eventsOf(people, userId)).at(-1) === 'completed.v1');
    expect(await eventsOf(people, userId)).toEqual(WHOLE_HISTORY);
  };
  const hasNoSteps = (): Promise<true> =>
    eventually(
      async () =>
        (await people.database.query("select from work.items where kind = 'onboarding.step'")).length === 0,
    );

  it('activates the user with the wallet that belongs to it, completes, and does nothing more when its events come twice', async () => {
    const userId = await submitted(people);
    await completed(userId);
    const { address: wallet } = await new SandboxWallets(people.module.get(KeyRing)).provision(userId);
    expect(await people.users.find(MERCHANT, userId)).toMatchObject({
      accountState: 'active',
      issuerWalletAddress: wallet,
    });
    await hasNoSteps();
    const saga = stepsSaga(() => undefined);
    const store = people.module.get<EventStore>(EVENT_STORE, { strict: false });
    const stream = await store.readStream(`onboarding-${userId}`);
    const events = stream.filter(({ type }) => saga.events.includes(type));
    expect(events).toHaveLength(2);
    await people.database.transaction((tx) => saga.apply([...events, ...events], tx));
    await hasNoSteps();
    await completed(userId);
  });

  it('writes every step once with eight concurrent workers, and that of the service', async () => {
    const userId = await submitted(people);
    await Promise.all(
      Array.from({ length: 8 }, () => people.module.get(OnboardingSteps, { strict: false }).advance(userId)),
    );
    await completed(userId);
  });

  it('links nothing to a phone that is not the one of the profile, or with a wrong code', async () => {
    const phone = '+15559990001';
    const userId = newId();
    const created = new CreateUser(MERCHANT, { phone_number: phone }, plainTicket(userId), {});
    await people.commandBus.execute(created);
    const verify = (number: string, code: string): Promise<unknown> =>
      people.commandBus.execute(new VerifyPhone(MERCHANT, userId, number, code, BROWSER));
    await people.commandBus.execute(new StartOnboarding(MERCHANT, userId));
    await people.commandBus.execute(new SendPhoneCode(MERCHANT, userId, REQUEST));
    const code = people.module.get<SmsInbox>(SMS_INBOX, { strict: false }).lastCode(phone)!;
    const refused = { code: 'validation_failed', fields: { code: ['is wrong'] } };
    await expect(verify('+15550002222', code)).rejects.toMatchObject(refused);
    await expect(verify(phone, code === '000000' ? '000001' : '000000')).rejects.toMatchObject(refused);
    expect(await eventsOf(people, userId)).toEqual(['started.v1']);
    await verify(phone, code);
    expect((await eventsOf(people, userId)).at(-1)).toBe('phone_verified.v1');
  });
});
