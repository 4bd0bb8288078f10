import { historyRules } from '../../../kernel/history-rules.js';
import { endSecret, issueSecret, KINDS, revokeSecret, setAddresses } from './credential.js';
import { exchangeKey, issueExchangeKey, revokeExchangeKey, setPage } from './exchange-key.js';
import {
  merchant,
  registerMerchant,
  reinstateMerchant,
  renameMerchant,
  setEmbedding,
  setLimits,
  suspendMerchant,
} from './merchant.js';
import { activateAdminKey, adminKey, issueAdminKey, revokeAdminKey, rollAdminKey } from './admin-key.js';
import {
  addPasskey,
  createOperator,
  disableOperator,
  enableOperator,
  operatorPerson,
  removePasskey,
  setRole,
} from './operator.js';
import { createPortalSession, enterPortal, portalSession, revokePortalSession } from './portal-session.js';

/** The secret that comes with the first event is verified by its own. */
const NO_SECRET = { secretId: '', sealed: '' };

function factsOf(facts: { secret_hash?: string; name?: string; expires_at?: string }) {
  return { hash: facts.secret_hash, name: facts.name, expiresAt: facts.expires_at };
}

export const merchantHistory = historyRules(
  merchant,
  {
    'merchant.registered.v1': ({ merchant_id: merchantId, name, registered_at: at }, state) =>
      registerMerchant({ merchantId, name, secret: NO_SECRET, at }, state),
    'merchant.suspended.v1': ({ at }, state) => suspendMerchant({ at }, state),
    'merchant.reinstated.v1': ({ at }, state) => reinstateMerchant({ at }, state),
    'merchant.embedding_set.v1': ({ origins, callbacks, shown_as: displayName, at }, state) =>
      setEmbedding({ change: { origins, callbacks, displayName }, at }, state),
    'merchant.renamed.v1': (data, state) => renameMerchant(data, state),
    'merchant.limits_set.v1': ({ requests_per_minute: requestsPerMinute, at }, state) =>
      setLimits({ requestsPerMinute, at }, state),
    'merchant.key_issued.v1': (
      { key_id: secretId, sealed_private_key: sealed, issued_at: at, ...facts },
      state,
    ) => issueSecret('api_key', { secret: { secretId, sealed, ...factsOf(facts) }, at }, state),
    'merchant.key_rolled.v1': ({ key_id: secretId, replaced_by: replacedBy, until, at }, state) =>
      endSecret('api_key', { secretId, replacedBy, until, at }, state),
    'merchant.key_revoked.v1': ({ key_id: secretId, revoked_at: at }, state) =>
      revokeSecret('api_key', { secretId, at }, state),
    'merchant.ip_allow_list_set.v1': (data, state) => setAddresses('api_key', data, state),
  },
  { id: KINDS.api_key.id },
);

export const exchangeKeyHistory = historyRules(
  exchangeKey,
  {
    'exchange_key.issued.v1': (data, state) => {
      const { key_id: keyId, merchant_id: merchantId, label, issued_at: at } = data;
      const { demands_signature: demandsSignature, memo_signing: memoSigning } = data;
      const withdrawAddresses = data.withdraw_addresses ?? [];
      const key = { keyId, merchantId, label, demandsSignature, memoSigning, withdrawAddresses };
      return issueExchangeKey({ ...key, secret: NO_SECRET, at }, state);
    },
    'exchange_key.revoked.v1': ({ revoked_at: at }, state) => revokeExchangeKey({ at }, state),
    'exchange_key.page_set.v1': ({ logo, help_url: helpUrl, terms_url: termsUrl, at }, state) =>
      setPage({ page: { logo, helpUrl, termsUrl }, at }, state),
    'exchange_key.secret_issued.v1': (
      { secret_id: secretId, sealed_secret: sealed, issued_at: at, ...facts },
      state,
    ) => issueSecret('exchange_key', { secret: { secretId, sealed, ...factsOf(facts) }, at }, state),
    'exchange_key.secret_rolled.v1': ({ secret_id: secretId, replaced_by: replacedBy, until, at }, state) =>
      endSecret('exchange_key', { secretId, replacedBy, until, at }, state),
    'exchange_key.secret_revoked.v1': ({ secret_id: secretId, revoked_at: at }, state) =>
      revokeSecret('exchange_key', { secretId, at }, state),
    'exchange_key.addresses_set.v1': (data, state) => setAddresses('exchange_key', data, state),
  },
  { id: KINDS.exchange_key.id },
);

export const operatorHistory = historyRules(
  operatorPerson,
  {
    'operator.created.v1': ({ operator_id: operatorId, ...data }, state) =>
      createOperator({ ...data, operatorId }, state),
    'operator.role_set.v1': (data, state) => setRole(data, state),
    'operator.disabled.v1': (data, state) => disableOperator(data, state),
    'operator.enabled.v1': (data, state) => enableOperator(data, state),
    'operator.passkey_added.v1': ({ at, ...passkey }, state) => addPasskey({ passkey, at }, state),
    'operator.passkey_removed.v1': ({ credential_id: credentialId, at }, state) =>
      removePasskey({ credentialId, at }, state),
  },
  { id: 'operator_id' },
);

export const adminKeyHistory = historyRules(
  adminKey,
  {
    'admin_key.issued.v1': (data, state) => {
      const { credential_id: credentialId, operator_id: operatorId, secret_hash: secretHash } = data;
      const { expires_at: expiresAt, is_pending: isPending } = data;
      return issueAdminKey({ ...data, credentialId, operatorId, secretHash, expiresAt, isPending }, state);
    },
    'admin_key.activated.v1': (data, state) => activateAdminKey(data, state),
    'admin_key.rolled.v1': ({ replaced_by: replacedBy, until, at }, state) =>
      rollAdminKey({ replacedBy, until, at }, state),
    'admin_key.revoked.v1': (data, state) => revokeAdminKey(data, state),
  },
  { id: 'credential_id' },
);

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
