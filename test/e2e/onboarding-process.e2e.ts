import { afterEach, describe, expect, it } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { BROWSER, handIn, REQUEST } from '../support/onboard.js';
import { ACT } from '../support/people.js';
import { eventually } from '../support/eventually.js';
import { plainTicket, startPeople, type People } from '../support/people.js';
import { COMMAND_LOOP, type CommandLoop } from '../../src/platform/event-store/command-loop.js';
import { EVENT_STORE, type EventStore, type RecordedEvent } from '../../src/platform/event-store/port.js';
import { newId } from '../../src/kernel/ids.js';
import { CreateUser } from '../../src/contexts/users/application/create-user.js';
import { StartDeactivation } from '../../src/contexts/users/application/user-commands.js';
import type { ExistingUser } from '../../src/contexts/users/contract.js';
import { KeyRing } from '../../src/platform/sealing/key-ring.js';
import { SandboxCards, SandboxWallets } from '../../src/contexts/onboarding/adapters/sandbox-providers.js';
import { onboarding } from '../../src/contexts/onboarding/domain/onboarding.js';
import { AdvanceOnboarding } from '../../src/contexts/onboarding/application/advance-onboarding.js';
import { CompleteSandboxOnboarding } from '../../src/contexts/onboarding/application/complete-sandbox-onboarding.js';
import {
  ConfirmDetails,
  StartOnboarding,
} from '../../src/contexts/onboarding/application/person-commands.js';
import {
  CARD_ISSUER,
  SMS_INBOX,
  WALLET_PROVISIONER,
  type CardIssuer,
  type SmsInbox,
  type WalletProvisioner,
} from '../../src/contexts/onboarding/application/ports.js';
import { SendPhoneCode, VerifyPhone } from '../../src/contexts/onboarding/application/phone-verification.js';
import { stepsSaga } from '../../src/contexts/onboarding/application/steps-worker.js';

const MASTER_KEY = '11'.repeat(32);
const ROOT = Buffer.alloc(32, 1);
const MERCHANT = newId();
const PHONE = '+15550001111';
const CONSENT = { termsVersion: 'sandbox', privacyVersion: 'sandbox' };
const DETAILS = { firstName: 'Ada', lastName: 'Lovelace', dateOfBirth: '1815-12-10' };
const WHOLE_HISTORY = [
  'onboarding.started.v1',
  'onboarding.phone_verified.v1',
  'onboarding.consent_given.v1',
  'onboarding.details_confirmed.v1',
  'onboarding.kyc_submitted.v1',
  'onboarding.kyc_passed.v1',
  'onboarding.wallet_provisioned.v1',
  'onboarding.card_issued.v1',
  'onboarding.completed.v1',
];

const started: People[] = [];
afterEach(async () => {
  for (const people of started.splice(0)) await people.close();
});

async function start(options: Parameters<typeof startPeople>[0] = {}): Promise<People> {
  const people = await startPeople({ masterKey: MASTER_KEY, ...options });
  started.push(people);
  return people;
}

async function createUser(people: People, phone = PHONE): Promise<string> {
  const userId = newId();
  await people.commandBus.execute(new CreateUser(MERCHANT, { phone_number: phone }, plainTicket(userId), {}));
  return userId;
}

async function submit(people: People, userId: string, details = DETAILS): Promise<void> {
  const { commandBus, module } = people;
  await commandBus.execute(new StartOnboarding(MERCHANT, userId));
  await commandBus.execute(new SendPhoneCode(MERCHANT, userId, REQUEST));
  const code = module.get<SmsInbox>(SMS_INBOX, { strict: false }).lastCode(PHONE) ?? '';
  await commandBus.execute(new VerifyPhone(MERCHANT, userId, PHONE, code, BROWSER));
  await commandBus.execute(new ConfirmDetails(MERCHANT, userId, details, CONSENT));
  await handIn(people, userId, MERCHANT);
}

function history(people: People, userId: string): Promise<readonly RecordedEvent[]> {
  return people.module.get<EventStore>(EVENT_STORE, { strict: false }).readStream(`onboarding-${userId}`);
}

async function types(people: People, userId: string): Promise<string[]> {
  return (await history(people, userId)).map(({ type }) => type);
}

async function find(people: People, userId: string): Promise<ExistingUser | null> {
  return people.users.find(MERCHANT, userId);
}

async function waitingSteps(people: People): Promise<number> {
  return (await people.database.query("select 1 from work.items where kind = 'onboarding.step'")).length;
}

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
  it('activates the user with the wallet that belongs to it, and then completes', async () => {
    const people = await start();
    const userId = await createUser(people);
    await submit(people, userId);
    await eventually(async () => (await types(people, userId)).at(-1) === 'onboarding.completed.v1');
    expect(await types(people, userId)).toEqual(WHOLE_HISTORY);
    const { address: wallet } = await new SandboxWallets(people.module.get(KeyRing).root).provision(userId);
    expect(await find(people, userId)).toMatchObject({ accountState: 'active', issuerWalletAddress: wallet });
    await eventually(async () => (await waitingSteps(people)) === 0);
  });

  it('keeps personal details and the phone number out of the store', async () => {
    const people = await start();
    const userId = await createUser(people);
    await submit(people, userId);
    const rows = await people.database.query<{ text: string }>(
      `select string_agg(e::text, ' ') as text from event_store.events e`,
    );
    expect(rows[0]!.text).toContain('onboarding.details_confirmed.v1');
    for (const secret of ['Lovelace', '1815-12-10', '5550001111'])
      expect(rows[0]!.text).not.toContain(secret);
  });

  it.each([
    ['the wallet provider', WALLET_PROVISIONER, SandboxWallets],
    ['the card issuer', CARD_ISSUER, SandboxCards],
  ])(
    'continues automatically after an outage of %s',
    async (_name, token: symbol, provider: Type<WalletProvisioner | CardIssuer>) => {
      const failed = failing(new provider(ROOT), 2);
      const people = await start({
        override: (builder) => builder.overrideProvider(token).useValue(failed.provider),
      });
      const userId = await createUser(people);
      await submit(people, userId);
      await eventually(async () => (await types(people, userId)).at(-1) === 'onboarding.completed.v1');
      expect(await types(people, userId)).toEqual(WHOLE_HISTORY);
      expect(failed.calls()).toBe(3);
    },
  );

  it('continues in another process', async () => {
    const first = await start({ roles: 'api' });
    const userId = await createUser(first);
    await submit(first, userId);
    expect((await types(first, userId)).at(-1)).toBe('onboarding.kyc_submitted.v1');
    const url = first.database.dataSource.options as { readonly url?: string };
    await start({ databaseUrl: url.url!, roles: 'worker' });
    await eventually(async () => (await types(first, userId)).at(-1) === 'onboarding.completed.v1');
    expect(await types(first, userId)).toEqual(WHOLE_HISTORY);
  });

  it('writes every step once with eight concurrent workers', async () => {
    const people = await start({ roles: 'api' });
    const userId = await createUser(people);
    await submit(people, userId);
    await Promise.all(
      Array.from({ length: 8 }, () => people.commandBus.execute(new AdvanceOnboarding(userId))),
    );
    expect(await types(people, userId)).toEqual(WHOLE_HISTORY);
  });

  it('does nothing more when its events come twice', async () => {
    const people = await start();
    const userId = await createUser(people);
    await submit(people, userId);
    await eventually(async () => (await types(people, userId)).at(-1) === 'onboarding.completed.v1');
    const events = (await history(people, userId)).filter(({ type }) =>
      stepsSaga(() => undefined).events.includes(type),
    );
    expect(events).toHaveLength(2);
    await people.database.transaction((tx) => stepsSaga(() => undefined).apply([...events, ...events], tx));
    await eventually(async () => (await waitingSteps(people)) === 0);
    expect(await types(people, userId)).toEqual(WHOLE_HISTORY);
  });

  it('stops for a user who is being deactivated, and leaves no work behind', async () => {
    const people = await start({ roles: 'api' });
    const userId = await createUser(people);
    await submit(people, userId);
    await people.commandBus.execute(new StartDeactivation(userId, ACT));
    const url = people.database.dataSource.options as { readonly url?: string };
    await start({ databaseUrl: url.url!, roles: 'worker' });
    await eventually(async () => (await find(people, userId))?.accountState === 'deactivated');
    await eventually(async () => (await waitingSteps(people)) === 0);
    expect(await types(people, userId)).not.toContain('onboarding.completed.v1');
  });

  it('links nothing to a phone that is not the one of the profile, or with a wrong code', async () => {
    const people = await start({ roles: 'api' });
    const userId = await createUser(people);
    const verify = (phone: string, code: string): Promise<unknown> =>
      people.commandBus.execute(new VerifyPhone(MERCHANT, userId, phone, code, BROWSER));
    await people.commandBus.execute(new StartOnboarding(MERCHANT, userId));
    await people.commandBus.execute(new SendPhoneCode(MERCHANT, userId, REQUEST));
    const code = people.module.get<SmsInbox>(SMS_INBOX, { strict: false }).lastCode(PHONE)!;
    const refused = { code: 'validation_failed', fields: { code: ['is wrong'] } };
    await expect(verify('+15550002222', code)).rejects.toMatchObject(refused);
    await expect(verify(PHONE, code === '000000' ? '000001' : '000000')).rejects.toMatchObject(refused);
    expect(await types(people, userId)).toEqual(['onboarding.started.v1']);
    await verify(PHONE, code);
    expect((await types(people, userId)).at(-1)).toBe('onboarding.phone_verified.v1');
  });

  it('is gone through by the sandbox in one call, also by many at a time', async () => {
    const people = await start();
    const userId = await createUser(people);
    const complete = (): Promise<ExistingUser> =>
      people.commandBus.execute(new CompleteSandboxOnboarding(MERCHANT, userId));
    const users = await Promise.all([complete(), complete(), complete()]);
    expect(users.map(({ accountState }) => accountState)).toEqual(['active', 'active', 'active']);
    expect(await complete()).toMatchObject({ issuerWalletAddress: users[0]!.issuerWalletAddress });
    await eventually(async () => (await types(people, userId)).at(-1) === 'onboarding.completed.v1');
    expect(await types(people, userId)).toEqual(WHOLE_HISTORY);
    const { state } = await people.module
      .get<CommandLoop>(COMMAND_LOOP, { strict: false })
      .load(onboarding, userId);
    expect(state).toMatchObject({ stage: 'completed' });
  });
});
