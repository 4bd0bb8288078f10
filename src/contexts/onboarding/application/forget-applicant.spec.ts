import { describe, expect, it } from '@jest/globals';
import type { Get } from '../../../platform/context.js';
import { ApplicantRows } from '../store/applicant-rows.js';
import { forgetApplicant } from './forget-applicant.js';
import { CARD_ISSUER, IDENTITY_VERIFIER } from './ports.js';

/** An erasure with what it does, in order; the providers that `fail` throw. */
async function erased(...fail: string[]): Promise<string[]> {
  const acts: string[] = [];
  const act = (name: string) => async (userId: string) => {
    acts.push(`${name} ${userId}`);
    if (fail.includes(name)) throw new Error(`${name} failed`);
  };
  const parts = new Map<unknown, object>([
    [ApplicantRows, { dropPending: act('images'), dropAll: act('rows') }],
    [IDENTITY_VERIFIER, { forget: act('identity provider') }],
    [CARD_ISSUER, { forget: act('card issuer') }],
  ]);
  const forget = forgetApplicant(((token: unknown) => parts.get(token)) as Get);
  const user = { userId: 'u1' } as Parameters<typeof forget>[0];
  await forget(user, new AbortController().signal).catch((error: Error) => acts.push(error.message));
  return acts;
}

describe('the erasure of an applicant', () => {
  it('has the identity provider and the card issuer forget the person before the rows that name them are dropped', async () => {
    expect(await erased()).toEqual(['images u1', 'identity provider u1', 'card issuer u1', 'rows u1']);
  });

  it.each(['identity provider', 'card issuer'])(
    'keeps the rows while the %s does not forget the person, to ask again',
    async (provider) => {
      const acts = await erased(provider);
      expect(acts.at(-1)).toBe(`${provider} failed`);
      expect(acts).not.toContain('rows u1');
    },
  );
});
