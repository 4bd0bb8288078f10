import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SandboxCards, SandboxWallets } from '../../../src/contexts/onboarding/adapters/sandbox-providers.js';
import { OnboardingSteps } from '../../../src/contexts/onboarding/application/onboarding-steps.js';
import { CompleteSandboxOnboarding } from '../../../src/contexts/onboarding/application/complete-sandbox-onboarding.js';
import { StartOnboarding } from '../../../src/contexts/onboarding/application/person-commands.js';
import {
  SendPhoneCode,
  VerifyPhone,
} from '../../../src/contexts/onboarding/application/phone-verification.js';
import {
  CARD_ISSUER,
  SMS_INBOX,
  WALLET_PROVISIONER,
  type SmsInbox,
} from '../../../src/contexts/onboarding/application/ports.js';
import { stepsSaga } from '../../../src/contexts/onboarding/application/steps-worker.js';
import { CreateUser } from '../../../src/contexts/users/application/create-user.js';
import type { ExistingUser } from '../../../src/contexts/users/contract.js';
import { newId } from '../../../src/kernel/ids.js';
import { EVENT_STORE, type EventStore } from '../../../src/platform/event-store/port.js';
import { KeyRing } from '../../../src/platform/sealing/key-ring.js';
import { eventually } from '../../support/eventually.js';
import {
  BROWSER,
  eventsOf,
  MERCHANT,
  onboardingOf,
  REQUEST,
  submitted,
  urlOf,
} from '../../support/onboarding/onboard.js';
import { plainTicket, startPeople, type People } from '../../support/onboarding/people.js';

const MASTER_KEY = '11'.repeat(32);
const PHONE = '+15559990001';
const WHOLE_HISTORY = [
  ...['started.v1', 'phone_verified.v1', 'consent_given.v1', 'details_confirmed.v1', 'kyc_submitted.v1'],
  ...['kyc_passed.v1', 'wallet_provisioned.v1', 'card_issued.v1', 'completed.v1'],
];

const running: People[] = [];
afterAll(async () => {
  for (const people of running.reverse()) await people.close();
});

async function start(options: Parameters<typeof startPeople>[0] = {}): Promise<People> {
  const people = await startPeople({ masterKey: MASTER_KEY, ...options });
  running.push(people);
  return people;
}

async function createUser(people: People): Promise<string> {
  const userId = newId();
  await people.commandBus.execute(new CreateUser(MERCHANT, { phone_number: PHONE }, plainTicket(userId), {}));
  return userId;
}

const completed = (people: People, userId: string): Promise<true> =>
  eventually(async () => (await eventsOf(people, userId)).at(-1) === 'completed.v1');
const hasNoSteps = (people: People): Promise<true> =>
  eventually(
    async () =>
      (await people.database.query("select from work.items where kind = 'onboarding.step'")).length === 0,
  );

/** A provider whose first calls fail, as if it were unavailable or the process had died in them. */
function failing<T extends object>(provider: T, failures: number): { provider: T; calls: () => number } {
  let calls = 0;
  const proxy = new Proxy(provider, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        calls += 1;
        if (calls <= failures) return Promise.reject(new Error('unavailable'));
        return member.apply(target, args) as unknown;
      };
    },
  });
  return { provider: proxy, calls: () => calls };
}

describe('the onboarding process', () => {
  let people: People;
  beforeAll(async () => {
    people = await start();
  });

  it('activates the user with the wallet that belongs to it, and then completes; its events do nothing when they come twice', async () => {
    const userId = await submitted(people);
    await completed(people, userId);
    expect(await eventsOf(people, userId)).toEqual(WHOLE_HISTORY);
    const { address: wallet } = await new SandboxWallets(people.module.get(KeyRing)).provision(userId);
    expect(await people.users.find(MERCHANT, userId)).toMatchObject({
      accountState: 'active',
      issuerWalletAddress: wallet,
    });
    await hasNoSteps(people);
    const saga = stepsSaga(() => undefined);
    const store = people.module.get<EventStore>(EVENT_STORE, { strict: false });
    const events = (await store.readStream(`onboarding-${userId}`)).filter(({ type }) =>
      saga.events.includes(type),
    );
    expect(events).toHaveLength(2);
    await people.database.transaction((tx) => saga.apply([...events, ...events], tx));
    await hasNoSteps(people);
    expect(await eventsOf(people, userId)).toEqual(WHOLE_HISTORY);
  });

  it('is completed by the sandbox in one call, also by three concurrent ones', async () => {
    const userId = await createUser(people);
    const complete = (): Promise<ExistingUser> =>
      people.commandBus.execute(new CompleteSandboxOnboarding(MERCHANT, userId));
    const users = await Promise.all([complete(), complete(), complete()]);
    expect(users.map(({ accountState }) => accountState)).toEqual(['active', 'active', 'active']);
    expect(await complete()).toMatchObject({ issuerWalletAddress: users[0]!.issuerWalletAddress });
    await completed(people, userId);
    expect(await eventsOf(people, userId)).toEqual(WHOLE_HISTORY);
    expect(await onboardingOf(people, userId)).toMatchObject({ stage: 'completed' });
  });
});

describe('the onboarding process where providers were unavailable', () => {
  it('continues automatically after an outage of the wallet provider, and of the card issuer', async () => {
    const [wallets, cards] = [SandboxWallets, SandboxCards].map((provider) =>
      failing(new provider({ root: Buffer.alloc(32, 1) }), 2),
    );
    const people = await start({
      override: (builder) =>
        builder
          .overrideProvider(WALLET_PROVISIONER)
          .useValue(wallets!.provider)
          .overrideProvider(CARD_ISSUER)
          .useValue(cards!.provider),
    });
    const userId = await submitted(people);
    await completed(people, userId);
    expect(await eventsOf(people, userId)).toEqual(WHOLE_HISTORY);
    expect([wallets!.calls(), cards!.calls()]).toEqual([3, 3]);
  });
});

describe('the onboarding process without a worker', () => {
  let people: People;
  beforeAll(async () => {
    people = await start({ roles: 'api' });
  });

  it('writes every step once with eight concurrent workers', async () => {
    const userId = await submitted(people);
    await Promise.all(
      Array.from({ length: 8 }, () => people.module.get(OnboardingSteps, { strict: false }).advance(userId)),
    );
    expect(await eventsOf(people, userId)).toEqual(WHOLE_HISTORY);
  });

  it('links nothing to a phone that is not the one of the profile, or with a wrong code', async () => {
    const userId = await createUser(people);
    const verify = (phone: string, code: string): Promise<unknown> =>
      people.commandBus.execute(new VerifyPhone(MERCHANT, userId, phone, code, BROWSER));
    await people.commandBus.execute(new StartOnboarding(MERCHANT, userId));
    await people.commandBus.execute(new SendPhoneCode(MERCHANT, userId, REQUEST));
    const code = people.module.get<SmsInbox>(SMS_INBOX, { strict: false }).lastCode(PHONE)!;
    const refused = { code: 'validation_failed', fields: { code: ['is wrong'] } };
    await expect(verify('+15550002222', code)).rejects.toMatchObject(refused);
    await expect(verify(PHONE, code === '000000' ? '000001' : '000000')).rejects.toMatchObject(refused);
    expect(await eventsOf(people, userId)).toEqual(['started.v1']);
    await verify(PHONE, code);
    expect((await eventsOf(people, userId)).at(-1)).toBe('phone_verified.v1');
  });

  // The last: from here on there is a worker.
  it('continues in another process', async () => {
    const userId = await submitted(people);
    expect((await eventsOf(people, userId)).at(-1)).toBe('kyc_submitted.v1');
    await start({ databaseUrl: urlOf(people), roles: 'worker' });
    await completed(people, userId);
    expect(await eventsOf(people, userId)).toEqual(WHOLE_HISTORY);
  });
});
