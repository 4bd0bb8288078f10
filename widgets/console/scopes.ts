/** admin-api.md 2, in its order. */
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
];

export const ROLES = ['viewer', 'support', 'finance', 'compliance', 'on_call', 'administrator'];
