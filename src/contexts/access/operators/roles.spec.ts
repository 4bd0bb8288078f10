import { describe, expect, it } from '@jest/globals';
import { effectiveScopes, isRole, ROLE_SCOPES, ROLES, SCOPES, scopesGained } from './roles.js';

describe('the roles of operators', () => {
  it('allow a viewer to read everything except personal data and the audit', () => {
    const others = SCOPES.filter((scope) => !ROLE_SCOPES.viewer.includes(scope));
    expect(others.filter((scope) => !scope.endsWith(':write'))).toEqual([
      'users_personal:read',
      'audit:read',
    ]);
    expect(ROLE_SCOPES.viewer.filter((scope) => !scope.endsWith(':read'))).toEqual([]);
  });

  it.each([
    ['support', ['users:write', 'users_personal:read', 'webhooks:write']],
    ['finance', ['orders:write', 'audit:read']],
    ['compliance', ['merchants:write', 'users:write', 'users_personal:read', 'webhooks:write', 'audit:read']],
    ['on_call', ['webhooks:write', 'system:write']],
  ] as const)('give %s the scopes of a viewer and the additional scopes of the role', (role, own) => {
    expect(scopesGained(role, 'viewer')).toEqual(own);
    expect(scopesGained('viewer', role)).toEqual([]);
  });

  it('allow an administrator everything', () => {
    expect(ROLE_SCOPES.administrator).toEqual(SCOPES);
    for (const role of ROLES) expect(scopesGained(role, 'administrator')).toEqual([]);
  });

  it('limit the scopes of a credential; an unknown role has no scopes', () => {
    const scopes = ['payouts:read', 'system:write'];
    expect([...effectiveScopes(scopes, 'viewer')]).toEqual(['payouts:read']);
    expect([...effectiveScopes(scopes, 'on_call')]).toEqual(scopes);
    expect([...effectiveScopes(['orders:write'], 'viewer')]).toEqual([]);
    expect([...effectiveScopes(scopes, 'owner')]).toEqual([]);
    expect([isRole('viewer'), isRole('owner')]).toEqual([true, false]);
  });
});
