import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  CARD_ISSUER,
  IDENTITY_VERIFIER,
  WALLET_PROVISIONER,
  type CardRequest,
  type IdentityRequest,
} from '../../../src/contexts/onboarding/application/ports.js';
import { SandboxCards, SandboxWallets } from '../../../src/contexts/onboarding/adapters/sandbox-providers.js';
import { OnboardingSteps } from '../../../src/contexts/onboarding/application/onboarding-steps.js';
import { RetryStep } from '../../../src/contexts/onboarding/application/operator-commands.js';
import { StartDeactivation } from '../../../src/contexts/users/contract.js';
import { EraseUser } from '../../../src/contexts/users/application/user-commands.js';
import { eventually } from '../../support/eventually.js';
import { eventsOf, MERCHANT, onboardingOf, submitted } from '../../support/onboarding/onboard.js';
import { ACT, startPeople, type People } from '../../support/onboarding/people.js';

/** Providers that record requests; the card is refused, and the identity decides on command. */
class Providers {
  readonly provider = 'counting';
  readonly checked: string[] = [];
  readonly wallets: string[] = [];
  readonly cards: string[] = [];
  refusesCards = false;
  decides: Promise<void> = Promise.resolve();
  private readonly sandboxWallets = new SandboxWallets({ root: Buffer.alloc(32, 1) });
  private readonly sandboxCards = new SandboxCards();

  async decide({ userId, deleteImages }: IdentityRequest): Promise<{ passed: true }> {
    this.checked.push(userId);
    await this.decides;
    await deleteImages();
    return { passed: true };
  }
  provision(userId: string) {
    this.wallets.push(userId);
    return this.sandboxWallets.provision(userId);
  }
  async replace(): Promise<void> {}
  issue(request: CardRequest) {
    this.cards.push(request.userId);
    const details = { ...request.details, lastName: this.refusesCards ? 'Cardless' : 'Lovelace' };
    return this.sandboxCards.issue({ ...request, details });
  }
  async forget(): Promise<void> {}
}

describe('a user who is deactivated', () => {
  const providers = new Providers();
  let people: People;
  beforeAll(async () => {
    people = await startPeople({
      override: (builder) =>
        [IDENTITY_VERIFIER, WALLET_PROVISIONER, CARD_ISSUER].reduce(
          (all, port) => all.overrideProvider(port).useValue(providers),
          builder,
        ),
    });
  });
  afterAll(() => people.close());

  const deactivate = async (userId: string): Promise<void> => {
    await people.commandBus.execute(new StartDeactivation(userId, ACT));
    await eventually(async () => (await people.users.find(MERCHANT, userId))?.accountState === 'deactivated');
  };
  const noStepOf = (userId: string): Promise<true> => {
    const sql = "select from work.items where kind = 'onboarding.step' and key = $1";
    return eventually(async () => (await people.database.query(sql, [userId])).length === 0);
  };
  const retry = (userId: string): Promise<unknown> => people.commandBus.execute(new RetryStep(userId));

  it('gets neither wallet nor card after a late decision of the provider', async () => {
    let decide = (): void => undefined;
    providers.decides = new Promise((resolve) => (decide = resolve));
    const userId = await submitted(people);
    await eventually(() => providers.checked.includes(userId));
    await deactivate(userId);
    await noStepOf(userId);
    decide();
    await eventually(async () => (await eventsOf(people, userId)).includes('kyc_passed.v1'));
    // The event schedules the next step, which finds the deactivation.
    await noStepOf(userId);
    expect([...providers.wallets, ...providers.cards]).not.toContain(userId);
  });

  it('is refused the retry of a step by an operator, and no provider is called', async () => {
    providers.refusesCards = true;
    const userId = await submitted(people);
    await eventually(async () => (await onboardingOf(people, userId)).stage === 'card_failed');
    await deactivate(userId);
    providers.refusesCards = false;
    const requests = providers.cards.length;
    await expect(retry(userId)).rejects.toMatchObject({ code: 'invalid_transition' });
    expect(await eventsOf(people, userId)).not.toContain('card_retried.v1');
    expect(providers.cards).toHaveLength(requests);
  });

  it('is not found by that retry once the user is erased', async () => {
    providers.decides = Promise.reject(new Error('unavailable'));
    providers.decides.catch(() => undefined);
    const userId = await submitted(people);
    await eventually(() => providers.checked.includes(userId));
    await deactivate(userId);
    await people.commandBus.execute(new EraseUser(userId, ACT));
    await expect(retry(userId)).rejects.toMatchObject({ code: 'not_found' });
    const requests = providers.checked.length;
    // As a process that was stalled meanwhile.
    const late = people.module.get(OnboardingSteps, { strict: false }).advance(userId);
    await expect(late).rejects.toMatchObject({ code: 'not_found' });
    expect(providers.checked).toHaveLength(requests);
  });
});
