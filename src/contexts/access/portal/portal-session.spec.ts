import { describe, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import {
  createPortalSession,
  enterPortal,
  portalSession,
  revokePortalSession,
  type PortalSession,
  type PortalSessionEvent,
} from './portal-session.js';

const ids = { session_id: 's1', merchant_id: 'm1' };
const at = '2026-01-02T03:00:00.000Z';
const created: PortalSessionEvent = {
  type: 'portal_session.created.v1',
  data: {
    ...ids,
    actor: { id: 'u-17', name: 'Ada' },
    scopes: ['keys:read'],
    return_url: null,
    code_hash: 'code',
    code_expires_at: '2026-01-02T03:15:00.000Z',
    created_at: at,
  },
};
const entered: PortalSessionEvent = {
  type: 'portal_session.entered.v1',
  data: {
    ...ids,
    token_hash: 'token',
    session_expires_at: '2026-01-02T11:14:59.999Z',
    entered_at: '2026-01-02T03:14:59.999Z',
  },
};
const revoked: PortalSessionEvent = { type: 'portal_session.revoked.v1', data: { ...ids, revoked_at: at } };

const given = givenOf(portalSession);
const enter = { code_hash: 'code', token_hash: 'token', entered_at: entered.data.entered_at };
type Decision = (state: PortalSession | null) => PortalSessionEvent[];
const entering =
  (over: object = {}): Decision =>
  (state) =>
    enterPortal({ ...enter, ...over }, state);
const revoking =
  (merchant_id = 'm1'): Decision =>
  (state) =>
    revokePortalSession({ merchant_id, revoked_at: at }, state);

describe('a portal session', () => {
  it('can be entered within 15 minutes of its creation and then lasts eight hours', () => {
    const { code_expires_at: _, ...session } = created.data;
    given()
      .when((state) => createPortalSession(session, state))
      .then(created);
    given(created).when(entering()).then(entered);
  });

  it.each([
    ['twice', {}, [created, entered]],
    ['after 15 minutes', { entered_at: '2026-01-02T03:15:00.000Z' }, [created]],
    ['with another code', { code_hash: 'other' }, [created]],
    ['after it was revoked', {}, [created, revoked]],
    ['if it does not exist', {}, []],
  ])('cannot be entered %s', (_, over, events) => {
    given(...events)
      .when(entering(over))
      .thenRefused('forbidden');
  });

  it('can be revoked once, before or after it is entered, and only by its merchant', () => {
    given(created).when(revoking()).then(revoked);
    given(created, entered).when(revoking()).then(revoked);
    given(created, entered, revoked).when(revoking()).then();
    given(created).when(revoking('m2')).thenRefused('not_found');
  });
});
