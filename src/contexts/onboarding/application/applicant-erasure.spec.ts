import { describe, expect, it } from '@jest/globals';
import { ApplicantErasure } from './applicant-erasure.js';

/** An erasure with what it does, in order; the providers that `fail` throw. */
async function erased(...fail: string[]): Promise<string[]> {
  const acts: string[] = [];
  const act = (name: string) => async (userId: string) => {
    acts.push(`${name} ${userId}`);
    if (fail.includes(name)) throw new Error(`${name} failed`);
  };
  const erasure = new ApplicantErasure(
    { dropPending: act('images'), dropAll: act('rows') } as never,
    { forget: act('identity provider') } as never,
    { forget: act('card issuer') } as never,
  );
  await erasure.forget({ userId: 'u1' }).catch((error: Error) => acts.push(error.message));
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
