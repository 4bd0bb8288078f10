/** The scopes of the admin API (admin-api.md 2). */
export const SCOPES = [
  'merchants:read',
  'merchants:write',
  'credentials:read',
  'credentials:write',
  'users:read',
  'users:write',
  'users_personal:read',
  'payouts:read',
  'orders:read',
  'orders:write',
  'webhooks:read',
  'webhooks:write',
  'requests:read',
  'operations:read',
  'operators:read',
  'operators:write',
  'system:read',
  'system:write',
  'audit:read',
] as const;
export type Scope = (typeof SCOPES)[number];

export const ROLES = ['viewer', 'support', 'finance', 'compliance', 'on_call', 'administrator'] as const;
export type Role = (typeof ROLES)[number];

const RESTRICTED_READS: readonly Scope[] = ['users_personal:read', 'audit:read'];
const VIEWER = SCOPES.filter((scope) => scope.endsWith(':read') && !RESTRICTED_READS.includes(scope));
const SUPPORT: readonly Scope[] = [...VIEWER, 'users_personal:read', 'users:write', 'webhooks:write'];

export const ROLE_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: VIEWER,
  support: inOrder(SUPPORT),
  finance: inOrder([...VIEWER, 'orders:write', 'audit:read']),
  compliance: inOrder([...SUPPORT, 'merchants:write', 'audit:read']),
  on_call: inOrder([...VIEWER, 'system:write', 'webhooks:write']),
  administrator: SCOPES,
};

function inOrder(scopes: readonly Scope[]): readonly Scope[] {
  return SCOPES.filter((scope) => scopes.includes(scope));
}

export function isRole(text: string): text is Role {
  return ROLES.some((role) => role === text);
}

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}

/** Returns the given scopes that the role allows; none for a role that only a later version has. */
export function effectiveScopes(scopes: readonly string[], role: string): ReadonlySet<string> {
  const ofRole: readonly string[] = isRole(role) ? ROLE_SCOPES[role] : [];
  return new Set(scopes.filter((scope) => ofRole.includes(scope)));
}

export function scopesGained(role: Role, former: Role): readonly Scope[] {
  return ROLE_SCOPES[role].filter((scope) => !ROLE_SCOPES[former].includes(scope));
}
