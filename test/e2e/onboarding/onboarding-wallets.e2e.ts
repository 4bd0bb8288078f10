import { afterEach, describe, expect, it } from '@jest/globals';
import { HDNodeWallet } from 'ethers';
import { newId } from '../../../src/kernel/ids.js';
import { OnboardingSteps } from '../../../src/contexts/onboarding/application/onboarding-steps.js';
import {
  WALLET_PROVISIONER,
  type ProvisionedWallet,
  type WalletProvisioner,
} from '../../../src/contexts/onboarding/application/ports.js';
import { ActivateUser } from '../../../src/contexts/users/contract.js';
import { eventually } from '../../support/eventually.js';
import { confirmed, onboardingOf, submitted } from '../../support/onboarding/onboard.js';
import { startPeople, type People } from '../../support/onboarding/people.js';

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
      roles,
      audited,
      override: (builder) => builder.overrideProvider(WALLET_PROVISIONER).useValue(wallets),
    });
    started.push(people);
    return people;
  }

  interface Person {
    readonly merchant: string;
    readonly id: string;
  }
  async function submit(people: People): Promise<Person> {
    const merchant = newId();
    return { merchant, id: await submitted(people, 'Lovelace', merchant) };
  }
  const stateOf = async (people: People, { merchant, id }: Person): Promise<string | undefined> =>
    (await people.users.find(merchant, id))?.accountState;
  const stageOf = async (people: People, { id }: Person): Promise<string> =>
    (await onboardingOf(people, id)).stage;

  it('is a user of the first; at the second the onboarding waits until the provider gives another wallet', async () => {
    const provider = new OneWallet();
    const people = await start(provider);
    const first = await submit(people);
    await eventually(async () => (await stateOf(people, first)) === 'active');
    provider.address = provider.address.toLowerCase();
    const second = await submit(people);
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
    await expect(people.module.get(OnboardingSteps, { strict: false }).advance(second.id)).rejects.toThrow(
      'the wallet that was provisioned belongs to another user',
    );
    provider.address = HDNodeWallet.createRandom().address;
    await eventually(async () => (await stateOf(people, second)) === 'active');
  });

  it('is a user of one of them when both ask at the same time', async () => {
    const people = await start(new OneWallet(), 'api');
    const both = [await submit(people), await submit(people)];
    const ends = await Promise.allSettled(
      both.map(({ id }) => people.module.get(OnboardingSteps, { strict: false }).advance(id)),
    );
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const stages = await Promise.all(both.map((each) => stageOf(people, each)));
    expect(stages.sort()).toEqual(['completed', 'kyc_passed']);
  });

  it('refuses to activate a second user with it, and activates the first twice without harm', async () => {
    const people = await start(new OneWallet(), 'api', false);
    const merchant = newId();
    const [first, second] = [
      { merchant, id: await confirmed(people, 'Lovelace', merchant) },
      { merchant, id: await confirmed(people, 'Lovelace', merchant) },
    ];
    const { address } = HDNodeWallet.createRandom();
    for (let n = 0; n < 2; n++) await people.commandBus.execute(new ActivateUser(first.id, address));
    await expect(people.commandBus.execute(new ActivateUser(second.id, address))).rejects.toMatchObject({
      code: 'validation_failed',
    });
    expect([await stateOf(people, first), await stateOf(people, second)]).toEqual(['active', 'onboarding']);
  });
});
