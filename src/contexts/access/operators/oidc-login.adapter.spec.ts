import { describe, expect, it } from '@jest/globals';
import type { Operator } from './operator.js';
import type { People } from '../console/people.service.js';
import { accessConfig } from '../access.config.js';
import { type Claims, OidcLogin, returnPath } from './oidc-login.adapter.js';

const ADA: Operator = {
  status: 'active',
  operator_id: 'o1',
  name: 'Ada',
  email: 'ada@example.com',
  role: 'support',
  ...{ passkeys: [], created_at: '2026-01-02T03:04:05.000Z', disabled_at: null },
};
const CLAIMS: Claims = {
  sub: 's',
  email: 'Ada@example.com',
  email_verified: true,
  hd: 'example.com',
  auth_time: 1_767_323_045,
};
const ATTEMPT = { state: 's', nonce: 'n', verifier: 'v', returnTo: '/', former: null };

const CALLBACK = new URL('http://localhost/callback');

interface Setup {
  readonly claims?: Claims | Error;
  readonly demanded?: readonly [string, string];
  readonly roles?: readonly (readonly [string, string])[];
}

/** Signs in. A change of the role would add scopes. */
async function login({ claims = CLAIMS, demanded, roles }: Setup = {}): Promise<Operator> {
  class ProviderLogin extends OidcLogin {
    protected override async readClaims(): Promise<Claims> {
      if (claims instanceof Error) throw claims;
      return claims;
    }
  }
  const people = {
    findByEmail: async (email: string) => (email === ADA.email ? ADA : null),
    lowerRole: async () => false,
  } as unknown as People;
  const oidc = new ProviderLogin(people, {
    ...accessConfig({}),
    ...{ adminOidcClaim: demanded ?? null, adminOidcRoles: roles ?? null },
  });
  return (await oidc.finish(CALLBACK, ATTEMPT, '192.0.2.1')).person;
}

describe('a login at the identity provider', () => {
  it.each([
    ['an email that is not verified', { ...CLAIMS, email_verified: false }],
    ['an email_verified claim that is text, not true', { ...CLAIMS, email_verified: 'true' }],
    ['no email', { sub: 's' }],
    ['an email that no operator has', { ...CLAIMS, email: 'eve@example.com' }],
  ])('is refused with %s', async (_, claims) => {
    await expect(login({ claims })).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('requires the configured claim, whose value may also be an element of a list', async () => {
    const demanded = ['hd', 'example.com'] as const;
    expect(await login({ demanded })).toEqual(ADA);
    expect(await login({ demanded, claims: { ...CLAIMS, hd: ['a', 'example.com'] } })).toEqual(ADA);
    for (const hd of ['evil.example', undefined, ['evil.example']])
      await expect(login({ demanded, claims: { ...CLAIMS, hd } })).rejects.toMatchObject({
        code: 'forbidden',
        message: 'The claim hd does not grant access to the console',
      });
  });

  it('does not raise the role by a group, because a higher role needs a second operator', async () => {
    const roles = [['root', 'administrator']] as const;
    expect((await login({ roles, claims: { ...CLAIMS, groups: ['root'] } })).role).toBe('support');
  });

  it('is refused to an operator who is in no mapped group', async () => {
    const roles = [['staff', 'viewer']] as const;
    await expect(login({ roles, claims: { ...CLAIMS, groups: ['sales'] } })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it.each([
    [
      'forbidden',
      'a refusal by the provider',
      Object.assign(new Error('invalid_grant'), { code: 'OAUTH_RESPONSE_BODY_ERROR' }),
    ],
    ['unavailable', 'a failed connection', new TypeError('fetch failed')],
    ['unavailable', 'a timeout', Object.assign(new Error('timed out'), { code: 'OAUTH_TIMEOUT' })],
  ])('fails with %s after %s', async (code, _, error) => {
    await expect(login({ claims: error })).rejects.toMatchObject({ code });
  });
});

describe('the return path after a login', () => {
  it.each(['/', '/payouts?status=pending', '/users/1'])('is the valid requested path %s', (path) => {
    expect(returnPath(path)).toBe(path);
  });

  it.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/a\\b',
    '/\tx',
    '',
    ['/a', '/b'],
    undefined,
  ])('is the start page for the unsafe or invalid path %s', (path) => {
    expect(returnPath(path)).toBe('/');
  });
});
