import { describe, expect, it } from '@jest/globals';
import type { InjectionToken } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { CLOCK } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { UsersView } from '../../users/users.contract.js';
import { onboarding, type Onboarding, type OnboardingEvent } from './onboarding.js';
import { Verifications } from '../identity/verifications.store.js';
import en from '../words/en.json' with { type: 'json' };
import { OnboardingSteps } from './onboarding-steps.service.js';
import { Onboardings } from './onboardings.commands.js';
import { CardIssuer, IdentityVerifier } from '../providers/providers.ports.js';

/** The steps with these doubles; every other dependency is an empty object. */
function handlers(
  ...doubles: readonly (readonly [token: InjectionToken, double: object])[]
): Promise<TestingModule> {
  return Test.createTestingModule({
    providers: [
      OnboardingSteps,
      Onboardings,
      { provide: CLOCK, useValue: { now: () => new Date(0) } },
      ...doubles.map(([provide, useValue]) => ({ provide, useValue })),
    ],
  })
    .useMocker(() => ({}))
    .compile();
}

type State = 'active' | 'deactivating' | 'erased';

/** Advances a submitted identity for a user who is in that state once the verification was opened. */
async function advanced(becomes: State): Promise<{ calls: string[]; result: string }> {
  const calls: string[] = [];
  let state: State = 'active';
  const submitted = { stage: 'kyc_submitted', user_id: 'u1', merchant_id: 'm1', verification_id: 'v1' };
  const decide = async (): Promise<string> => {
    calls.push('identity provider');
    return 'under_review';
  };
  const open = async (): Promise<object> => {
    calls.push('opened');
    state = becomes;
    return { opened_at: new Date() };
  };
  const get = async (): Promise<object> => {
    if (state === 'erased') throw DomainError.notFound('User');
    return { account_state: state };
  };
  const module = await handlers(
    [CommandLoop, { load: async () => ({ state: submitted, lastId: null }) }],
    [IdentityVerifier, { provider: 'p', decide }],
    [UsersView, { get }],
    [Verifications, { open }],
  );
  const result = await module
    .get(OnboardingSteps)
    .advance('u1')
    .catch((error: { readonly code: string }) => error.code);
  return { calls, result };
}

describe('a submitted identity', () => {
  it('is sent to the identity provider', async () => {
    expect(await advanced('active')).toEqual({
      calls: ['opened', 'identity provider'],
      result: 'kyc_submitted',
    });
  });

  it.each([
    ['erased', 'not_found'],
    ['deactivating', 'invalid_transition'],
  ] as const)(
    'is not sent to the identity provider if the user is %s while the verification is opened',
    async (becomes, result) => {
      expect(await advanced(becomes)).toEqual({ calls: ['opened'], result });
    },
  );
});

describe('a step that fails until its retries end', () => {
  async function givenUp(state: object): Promise<{ stage: string; events: readonly OnboardingEvent[] }> {
    let events: readonly OnboardingEvent[] = [];
    const execute = async (_: object, id: string, decide: (state: Onboarding) => OnboardingEvent[]) => {
      const before = { user_id: id, merchant_id: 'm1', details: {}, ...state } as Onboarding;
      events = decide(before);
      return { state: events.reduce((each, event) => onboarding.evolve(each, event), before) };
    };
    const module = await handlers([CommandLoop, { execute }], [IdentityVerifier, { provider: 'p' }]);
    return { stage: await module.get(OnboardingSteps).giveUp('u1'), events };
  }

  it.each([
    [{ stage: 'kyc_submitted', verification_id: 'v1' }, 'kyc_failed', [en.reasonNotChecked]],
    [{ stage: 'wallet_provisioned', card_attempt: 2 }, 'card_failed', [en.reasonNotIssued]],
    // These stages cannot fail.
    ...['kyc_passed', 'card_issued', 'completed'].map((stage) => [{ stage }, stage, []] as const),
  ])('at %j ends at the stage %s; the reason does not blame the person', async (state, ends, reasons) => {
    const { stage, events } = await givenUp(state);
    expect(stage).toBe(ends);
    expect(events.map(({ data }) => (data as { readonly reason?: string }).reason)).toEqual(reasons);
  });
});

describe('the erasure of an applicant', () => {
  /** The calls of an erasure in order; the providers that `fail` throw. */
  async function erased(...fail: string[]): Promise<string[]> {
    const acts: string[] = [];
    const act = (name: string) => async (userId: string) => {
      acts.push(`${name} ${userId}`);
      if (fail.includes(name)) throw new Error(`${name} failed`);
    };
    const module = await handlers(
      [Verifications, { dropPending: act('images'), dropAll: act('rows') }],
      [IdentityVerifier, { forget: act('identity provider') }],
      [CardIssuer, { forget: act('card issuer') }],
    );
    const erasure = module.get(OnboardingSteps).forget({ userId: 'u1' });
    await erasure.catch((error: Error) => acts.push(error.message));
    return acts;
  }

  it('deletes the person at the identity provider and the card issuer before the rows with their ids', async () => {
    expect(await erased()).toEqual(['images u1', 'identity provider u1', 'card issuer u1', 'rows u1']);
  });

  it.each(['identity provider', 'card issuer'])(
    'retains the rows for a retry if the %s fails',
    async (provider) => {
      const acts = await erased(provider);
      expect(acts.at(-1)).toBe(`${provider} failed`);
      expect(acts).not.toContain('rows u1');
    },
  );
});
