import { afterAll, beforeEach, expect, it } from '@jest/globals';
import { HDNodeWallet } from 'ethers';
import {
  CardIssuer,
  IdentityVerifier,
  WalletProvisioner,
  type CardRequest,
  type IdentityRequest,
} from '../../../src/contexts/onboarding/providers/providers.ports.js';
import {
  SandboxCards,
  SandboxWallets,
} from '../../../src/contexts/onboarding/providers/sandbox-providers.adapter.js';
import { OnboardingSteps } from '../../../src/contexts/onboarding/onboardings/onboarding-steps.service.js';
import { RetryStep } from '../../../src/contexts/onboarding/onboardings/operator.commands.js';
import { stepsSaga } from '../../../src/contexts/onboarding/onboardings/steps.processor.js';
import { StartDeactivation } from '../../../src/contexts/users/users.contract.js';
import { newId } from '../../../src/kernel/ids.js';
import { EVENT_STORE, type EventStore } from '../../../src/platform/event-store/port.js';
import { eventually } from '../../support/eventually.js';
import { eventsOf, MERCHANT, onboardingOf, submitted } from '../../support/onboarding/onboard.js';
import { ACT, startPeople } from '../../support/onboarding/people.js';

const WHOLE_HISTORY = [
  ...['started.v1', 'phone_verified.v1', 'consent_given.v1', 'details_confirmed.v1', 'kyc_submitted.v1'],
  ...['kyc_passed.v1', 'wallet_provisioned.v1', 'card_issued.v1', 'completed.v1'],
];

/** Providers that record requests. A test decides identities, refuses cards, or assigns one wallet to all. */
class Providers {
  readonly provider = 'counting';
  readonly checked: string[] = [];
  readonly wallets: string[] = [];
  readonly cards: string[] = [];
  refusesCards = false;
  decides: Promise<void> = Promise.resolve();
  private onlyWallet: string | null = null;
  readonly sandboxWallets = new SandboxWallets({ root: Buffer.alloc(32, 1) });
  private readonly sandboxCards = new SandboxCards();

  async decide({ userId, deleteImages }: IdentityRequest): Promise<{ passed: true }> {
    this.checked.push(userId);
    await this.decides;
    await deleteImages();
    return { passed: true };
  }
  async provision(userId: string) {
    this.wallets.push(userId);
    const own = await this.sandboxWallets.provision(userId);
    return this.onlyWallet === null ? own : { address: this.onlyWallet, derivation: null };
  }
  /** Assigns this wallet to everybody. Null restores separate wallets. */
  giveAll(wallet: string | null): void {
    this.onlyWallet = wallet;
  }
  issue(request: CardRequest) {
    this.cards.push(request.userId);
    const details = { ...request.details, last_name: this.refusesCards ? 'Cardless' : 'Lovelace' };
    return this.sandboxCards.issue({ ...request, details });
  }
  async forget(): Promise<void> {}
}

const providers = new Providers();
const people = await startPeople({
  override: (builder) =>
    [IdentityVerifier, WalletProvisioner, CardIssuer].reduce(
      (all, port) => all.overrideProvider(port).useValue(providers),
      builder,
    ),
});
beforeEach(() => {
  Object.assign(providers, { refusesCards: false, decides: Promise.resolve() });
  providers.giveAll(null);
});
afterAll(() => people.close());

const completed = async (userId: string): Promise<void> => {
  await eventually(async () => (await eventsOf(people, userId)).at(-1) === 'completed.v1');
  expect(await eventsOf(people, userId)).toEqual(WHOLE_HISTORY);
};
const deactivate = async (userId: string): Promise<void> => {
  await people.commandBus.execute(new StartDeactivation(userId, {}, { id: 'operation', ...ACT }));
  await eventually(async () => (await people.users.get(MERCHANT, userId)).account_state === 'deactivated');
};
const stepOf = (userId: string) =>
  people.database.query<{ failures: number }>(
    "select failures from work.items where kind = 'onboarding.step' and key = $1",
    [userId],
  );
const noStepOf = (userId: string): Promise<true> =>
  eventually(async () => (await stepOf(userId)).length === 0);
const advance = (userId: string) => people.module.get(OnboardingSteps, { strict: false }).advance(userId);
const retry = (userId: string): Promise<unknown> => people.commandBus.execute(new RetryStep(userId));

it('an onboarding activates the user with a wallet once, even if its events are repeated', async () => {
  const userId = await submitted(people);
  await completed(userId);
  const { address } = await providers.sandboxWallets.provision(userId);
  expect(await people.users.get(MERCHANT, userId)).toMatchObject({
    account_state: 'active',
    issuer_wallet_address: address,
  });
  await noStepOf(userId);
  const saga = stepsSaga(() => undefined);
  const store = people.module.get<EventStore>(EVENT_STORE, { strict: false });
  const stream = await store.readStream(`onboarding-${userId}`);
  const events = stream.filter(({ type }) => saga.events.includes(type));
  expect(events).toHaveLength(2);
  await people.database.transaction((tx) => saga.apply([...events, ...events], tx));
  await noStepOf(userId);
  await completed(userId);
});

it('eight concurrent workers next to the service record every step of an onboarding once', async () => {
  const userId = await submitted(people);
  await Promise.all(Array.from({ length: 8 }, () => advance(userId)));
  await completed(userId);
});

it('the second of two users with one wallet waits until the provider returns another wallet', async () => {
  const wallet = HDNodeWallet.createRandom().address;
  providers.giveAll(wallet);
  const both = await Promise.all([submitted(people), submitted(people, 'Lovelace', newId())]);
  const stages = () => Promise.all(both.map(async (id) => (await onboardingOf(people, id)).stage));
  const second = await eventually(async () => {
    const all = await stages();
    const waits = both[all.indexOf('kyc_passed')];
    if (!all.includes('completed') || waits === undefined) return null;
    return Number((await stepOf(waits))[0]?.failures) > 0 && waits;
  });
  providers.giveAll(wallet.toLowerCase());
  await expect(advance(second)).rejects.toThrow('the wallet that was provisioned belongs to another user');
  expect((await stages()).sort()).toEqual(['completed', 'kyc_passed']);
  providers.giveAll(null);
  await completed(second);
});

it('a user who is deactivated before the identity check passes gets neither wallet nor card', async () => {
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

it('a deactivated user cannot retry a step, and the refused retry calls no provider', async () => {
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
