import { describe, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import {
  activateAdminKey,
  adminKey,
  issueAdminKey,
  revokeAdminKey,
  rollAdminKey,
  type AdminKey,
  type AdminKeyEvent,
  type NewAdminKey,
} from './admin-key.js';
import { SCOPES } from './roles.js';
import { rolledUntil } from './validity.js';

const at = '2026-01-02T03:04:05.000Z';
const credential_id = 'k1';
const given = givenOf(adminKey);
type Decision = (state: AdminKey) => readonly AdminKeyEvent[];

const NEW: NewAdminKey = {
  credentialId: 'k1',
  operatorId: 'o1',
  name: 'laptop',
  scopes: ['payouts:read', 'merchants:read'],
  merchants: null,
  addresses: [],
  expiresAt: '2026-01-03T00:00:00.000Z',
  secretHash: 'hash',
  isPending: true,
  replaces: null,
  at,
};
const issue =
  (over: Partial<NewAdminKey> = {}): Decision =>
  (state) =>
    issueAdminKey({ ...NEW, ...over }, state);
const activate =
  (now = at): Decision =>
  (state) =>
    activateAdminKey({ at: now }, state);
const roll =
  (overlapSeconds: number, now = at): Decision =>
  (state) =>
    rollAdminKey(
      { replacedBy: 'k2', until: rolledUntil(now, overlapSeconds, NEW.expiresAt), at: now },
      state,
    );
const revoke: Decision = (state) => revokeAdminKey({ at }, state);

const issued: AdminKeyEvent = {
  type: 'admin_key.issued.v1',
  data: {
    credential_id,
    operator_id: 'o1',
    name: 'laptop',
    scopes: ['merchants:read', 'payouts:read'],
    merchants: null,
    addresses: [],
    expires_at: '2026-01-03T00:00:00.000Z',
    secret_hash: 'hash',
    is_pending: true,
    replaces: null,
    at,
  },
};
const activated: AdminKeyEvent = { type: 'admin_key.activated.v1', data: { credential_id, at } };
const rolled = (until: string): AdminKeyEvent => ({
  type: 'admin_key.rolled.v1',
  data: { credential_id, replaced_by: 'k2', until, at },
});
const revoked: AdminKeyEvent = { type: 'admin_key.revoked.v1', data: { credential_id, at } };

describe('an admin key', () => {
  it('is issued once, with known scopes and an expiry in the future', () => {
    given().when(issue()).then(issued);
    given(issued).when(issue()).then();
    given()
      .when(issue({ scopes: ['payouts:read', 'all'] }))
      .thenRefused('validation_failed', { scopes: [`[1] must be one of ${SCOPES.join(', ')}`] });
    given()
      .when(issue({ expiresAt: at }))
      .thenRefused('validation_failed', { expires_at: ['must be in the future'] });
    given()
      .when(issue({ name: ' ' }))
      .thenRefused('validation_failed');
  });

  it('is activated while it is pending', () => {
    given(issued).when(activate()).then(activated);
    given(issued, activated).when(activate()).then();
    given(issued, revoked).when(activate()).thenRefused('invalid_transition');
    given(issued).when(activate('2026-01-03T00:00:00.000Z')).thenRefused('invalid_transition');
  });

  it('is replaced with an overlap that its expiry bounds', () => {
    given(issued, activated).when(roll(3600)).then(rolled('2026-01-02T04:04:05.000Z'));
    given(issued, activated).when(roll(86_400)).then(rolled('2026-01-03T00:00:00.000Z'));
    given(issued, activated).when(roll(0)).then(rolled(at));
  });

  it('is replaced only while it is active', () => {
    given(issued).when(roll(0)).thenRefused('invalid_transition');
    const replaced = [issued, activated, rolled('2026-01-02T04:04:05.000Z')];
    given(...replaced)
      .when(roll(0))
      .then();
    given(...replaced)
      .when((state) => rollAdminKey({ replacedBy: 'k3', until: at, at }, state))
      .thenRefused('invalid_transition');
    given(issued, activated, revoked).when(roll(0)).thenRefused('invalid_transition');
    given(issued, activated).when(roll(0, '2026-01-04T00:00:00.000Z')).thenRefused('invalid_transition');
  });

  it('is revoked once, pending or not', () => {
    given(issued).when(revoke).then(revoked);
    given(issued, activated).when(revoke).then(revoked);
    given(issued, revoked).when(revoke).then();
  });

  it('must be issued first', () => {
    for (const decide of [activate(), roll(0), revoke]) given().when(decide).thenRefused('not_found');
  });
});
