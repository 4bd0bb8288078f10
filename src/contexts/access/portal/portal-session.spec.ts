import { describe, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import {
  createPortalSession,
  enterPortal,
  portalSession,
  revokePortalSession,
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

describe('a session of the portal', () => {
  it('is entered within 15 minutes and lasts eight hours from then', () => {
    given(created)
      .when((state) => enterPortal(enter, state))
      .then(entered);
  });

  it('is entered once', () => {
    given(created, entered)
      .when((state) => enterPortal(enter, state))
      .thenRefused('forbidden');
  });

  it.each([
    ['after 15 minutes', { ...enter, entered_at: '2026-01-02T03:15:00.000Z' }, [created]],
    ['with another code', { ...enter, code_hash: 'other' }, [created]],
    ['once it is revoked', enter, [created, revoked]],
    ['that does not exist', enter, []],
  ])('is not entered %s', (_, command, events) => {
    given(...events)
      .when((state) => enterPortal(command, state))
      .thenRefused('forbidden');
  });

  it('is revoked before and after it is entered, once, only by its merchant', () => {
    const revoke = { merchant_id: 'm1', revoked_at: at };
    given(created)
      .when((state) => revokePortalSession(revoke, state))
      .then(revoked);
    given(created, entered)
      .when((state) => revokePortalSession(revoke, state))
      .then(revoked);
    given(created, entered, revoked)
      .when((state) => revokePortalSession(revoke, state))
      .then();
    given(created)
      .when((state) => revokePortalSession({ ...revoke, merchant_id: 'm2' }, state))
      .thenRefused('not_found');
  });

  it('is not created twice', () => {
    const { code_expires_at: _, ...session } = created.data;
    given()
      .when((state) => createPortalSession(session, state))
      .then(created);
  });
});
