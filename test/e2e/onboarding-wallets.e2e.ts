import { afterEach, describe, expect, it } from '@jest/globals';
import { HDNodeWallet } from 'ethers';
import { COMMAND_LOOP, type CommandLoop } from '../../src/platform/event-store/command-loop.js';
import { newId } from '../../src/kernel/ids.js';
import { AdvanceOnboarding } from '../../src/contexts/onboarding/application/advance-onboarding.js';
import {
  ConfirmDetails,
  StartOnboarding,
} from '../../src/contexts/onboarding/application/person-commands.js';
import {
  SMS_INBOX,
  WALLET_PROVISIONER,
  type SmsInbox,
  type ProvisionedWallet,
  WalletProvisioner,
} from '../../src/contexts/onboarding/application/ports.js';
import { SendPhoneCode, VerifyPhone } from '../../src/contexts/onboarding/application/phone-verification.js';
import { onboarding } from '../../src/contexts/onboarding/domain/onboarding.js';
import { CreateUser } from '../../src/contexts/users/application/create-user.js';
import { ActivateUser } from '../../src/contexts/users/contract.js';
import { eventually } from '../support/eventually.js';
import { BROWSER, handIn, REQUEST } from '../support/onboard.js';
import { plainTicket, startPeople, type People } from '../support/people.js';

const PHONE = '+15550001111';
const CONSENT = { termsVersion: 'sandbox', privacyVersion: 'sandbox' };
const DETAILS = { firstName: 'Ada', lastName: 'Lovelace', dateOfBirth: '1815-12-10' };

/** A provider with one address for all users, until it is changed. */
class OneWallet implements WalletProvisioner {
  address = HDNodeWallet.createRandom().address;
  async provision(): Promise<ProvisionedWallet> {
    return { address: this.address, derivation: null };
  }
  async replace(): Promise<void> {}
}

describe('one person with one wallet at two merchants', () => {
  const started: People[] = [];
  afterEach(async () => {
    for (const people of started.splice(0)) await people.close();
  });

  async function start(wallets: WalletProvisioner, roles = 'api,worker', audited = true): Promise<People> {
    const people = await startPeople({
      ...{ roles, audited },
      override: (builder) => builder.overrideProvider(WALLET_PROVISIONER).useValue(wallets),
    });
    started.push(people);
    return people;
  }

  interface Person {
    readonly merchant: string;
    readonly id: string;
  }
  async function newPerson({ commandBus }: People): Promise<Person> {
    const person = { merchant: newId(), id: newId() };
    await commandBus.execute(
      new CreateUser(person.merchant, { phone_number: PHONE }, plainTicket(person.id), {}),
    );
    return person;
  }
  async function submit(people: People, { merchant, id }: Person): Promise<void> {
    const { commandBus, module } = people;
    await commandBus.execute(new StartOnboarding(merchant, id));
    await commandBus.execute(new SendPhoneCode(merchant, id, REQUEST));
    const code = module.get<SmsInbox>(SMS_INBOX, { strict: false }).lastCode(PHONE) ?? '';
    await commandBus.execute(new VerifyPhone(merchant, id, PHONE, code, BROWSER));
    await commandBus.execute(new ConfirmDetails(merchant, id, DETAILS, CONSENT));
    await handIn(people, id, merchant);
  }
  const stateOf = async (people: People, { merchant, id }: Person): Promise<string | undefined> =>
    (await people.users.find(merchant, id))?.accountState;
  const stageOf = async ({ module }: People, { id }: Person): Promise<string> =>
    (await module.get<CommandLoop>(COMMAND_LOOP, { strict: false }).load(onboarding, id)).state.stage;

  it('is a user of the first; at the second the onboarding waits until the provider gives another wallet', async () => {
    const provider = new OneWallet();
    const people = await start(provider);
    const [first, second] = [await newPerson(people), await newPerson(people)];
    await submit(people, first);
    await eventually(async () => (await stateOf(people, first)) === 'active');
    provider.address = provider.address.toLowerCase();
    await submit(people, second);
    const failures = async (): Promise<number> => {
      const [row] = await people.database.query<{ failures: number }>(
        'select failures from work.items where key = $1',
        [second.id],
      );
      return row?.failures ?? 0;
    };
    await eventually(async () => (await failures()) >= 2 || (await stateOf(people, second)) === 'active');
    expect([await stateOf(people, second), await stageOf(people, second)]).toEqual([
      'onboarding',
      'kyc_passed',
    ]);
    await expect(people.commandBus.execute(new AdvanceOnboarding(second.id))).rejects.toThrow(
      'the wallet that was provisioned belongs to another user',
    );
    provider.address = HDNodeWallet.createRandom().address;
    await eventually(async () => (await stateOf(people, second)) === 'active');
  });

  it('is a user of one of them when both ask at the same time', async () => {
    const people = await start(new OneWallet(), 'api');
    const both = [await newPerson(people), await newPerson(people)];
    for (const each of both) await submit(people, each);
    const ends = await Promise.allSettled(
      both.map(({ id }) => people.commandBus.execute(new AdvanceOnboarding(id))),
    );
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const stages = await Promise.all(both.map((each) => stageOf(people, each)));
    expect(stages.sort()).toEqual(['completed', 'kyc_passed']);
  });

  it('refuses to activate a second user with it, and activates the first twice without harm', async () => {
    const people = await start(new OneWallet(), 'api', false);
    const [first, second] = [await newPerson(people), await newPerson(people)];
    const { address } = HDNodeWallet.createRandom();
    for (let n = 0; n < 2; n++) await people.commandBus.execute(new ActivateUser(first.id, address));
    await expect(people.commandBus.execute(new ActivateUser(second.id, address))).rejects.toMatchObject({
      code: 'validation_failed',
    });
    expect([await stateOf(people, first), await stateOf(people, second)]).toEqual(['active', 'onboarding']);
  });
});
