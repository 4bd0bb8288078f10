import { describe, expect, it } from '@jest/globals';
import { AdvanceOnboarding, AdvanceOnboardingHandler } from './advance-onboarding.js';

type State = 'active' | 'deactivating' | 'erased';

/** Advances a submitted identity for a user who is in that state once the verification was opened. */
async function advanced(becomes: State): Promise<{ calls: string[]; result: string }> {
  const calls: string[] = [];
  let state: State = 'active';
  const submitted = { stage: 'kyc_submitted', userId: 'u1', merchantId: 'm1', verificationId: 'v1' };
  const parts = {
    loop: { load: async () => ({ state: submitted, lastId: null }) },
    clock: { now: () => new Date() },
    identity: {
      provider: 'p',
      decide: async () => {
        calls.push('identity provider');
        return 'under_review';
      },
    },
    users: { find: async () => (state === 'erased' ? null : { accountState: state }) },
    verifications: {
      open: async () => {
        calls.push('opened');
        state = becomes;
        return { opened_at: new Date() };
      },
    },
  };
  const { loop, clock, identity, users, verifications } = parts as unknown as Record<string, never>;
  const none = {} as never;
  const handler = new AdvanceOnboardingHandler(
    ...([loop!, clock!, identity!, none, none, none, users!, none, verifications!] as const),
  );
  const result = await handler
    .execute(new AdvanceOnboarding('u1'))
    .catch((error: { readonly code: string }) => error.code);
  return { calls, result };
}

describe('an identity that is handed in', () => {
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
    'is not sent to the identity provider when the user is %s while the verification is opened',
    async (becomes, result) => {
      expect(await advanced(becomes)).toEqual({ calls: ['opened'], result });
    },
  );
});
