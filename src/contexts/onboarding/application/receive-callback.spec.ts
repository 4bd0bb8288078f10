import { describe, expect, it } from '@jest/globals';
import { ReceiveCallback, ReceiveCallbackHandler } from './receive-callback.js';
import { onboardingConfig } from '../settings.js';

const NOW = new Date('2026-11-22T12:00:00.000Z');
const MAX_AGE_SECONDS = 3600;

/** What becomes of a callback that was signed so many seconds from now. */
async function received(seconds: number): Promise<{ outcome: string; polls: number }> {
  let polls = 0;
  const reader = {
    provider: 'p',
    read: async () => ({ at: new Date(NOW.getTime() + seconds * 1000), check: 'c' }),
  };
  const verifications = {
    pollNow: async () => {
      polls += 1;
      return true;
    },
  };
  const handler = new ReceiveCallbackHandler(
    reader,
    { now: () => NOW },
    { ...onboardingConfig({}), identityCallbackMaxAgeSeconds: MAX_AGE_SECONDS },
    verifications as never,
  );
  return { outcome: await handler.execute(new ReceiveCallback('p', {}, Buffer.alloc(0))), polls };
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
