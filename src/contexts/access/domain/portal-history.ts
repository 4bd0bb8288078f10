import { historyRules } from '../../../kernel/history-rules.js';
import { createPortalSession, enterPortal, portalSession, revokePortalSession } from './portal-session.js';

export const portalSessionHistory = historyRules(
  portalSession,
  {
    'portal_session.created.v1': (data, state) =>
      createPortalSession(
        {
          id: data.session_id,
          merchantId: data.merchant_id,
          actor: data.actor,
          scopes: data.scopes,
          returnUrl: data.return_url,
          codeHash: data.code_hash,
          at: data.created_at,
        },
        state,
      ),
    'portal_session.entered.v1': ({ token_hash: tokenHash, entered_at: at }, state) =>
      enterPortal({ codeHash: state?.codeHash ?? '', tokenHash, at }, state),
    'portal_session.revoked.v1': ({ merchant_id: merchantId, revoked_at: at }, state) =>
      revokePortalSession({ merchantId, at }, state),
  },
  { id: 'session_id' },
);
