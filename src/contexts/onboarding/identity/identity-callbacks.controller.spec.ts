import { describe, expect, it } from '@jest/globals';
import { onboardingConfig } from '../onboarding.config.js';
import { IdentityCallbacksController } from './identity-callbacks.controller.js';

const NOW = new Date('2026-11-22T12:00:00.000Z');
const MAX_AGE_SECONDS = 3600;

/** What becomes of a callback that was signed so many seconds from now. */
async function received(seconds: number): Promise<{ outcome: string; polls: number }> {
  let polls = 0;
  const identity = {
    provider: 'p',
    readCallback: async () => ({ at: new Date(NOW.getTime() + seconds * 1000), check: 'c' }),
  };
  const verifications = {
    pollNow: async () => {
      polls += 1;
      return true;
    },
  };
  const controller = new IdentityCallbacksController(
    identity as never,
    { now: () => NOW },
    { ...onboardingConfig({}), identityCallbackMaxAgeSeconds: MAX_AGE_SECONDS },
    verifications as never,
  );
  const outcome = await controller.receive('p', { headers: {} }, Buffer.alloc(0)).then(
    () => 'accepted',
    ({ message }: Error) => (message.includes('too long ago, or in the future') ? 'expired' : message),
  );
  return { outcome, polls };
}

describe('a callback of the identity provider', () => {
  it.each([
    [0, 'accepted', 1],
    [-MAX_AGE_SECONDS, 'accepted', 1],
    [-MAX_AGE_SECONDS - 1, 'expired', 0],
    [300, 'accepted', 1],
    [301, 'expired', 0],
    [86_400, 'expired', 0],
  ])('signed %d seconds from now is %s', async (seconds, outcome, polls) => {
    expect(await received(seconds)).toEqual({ outcome, polls });
  });
});
