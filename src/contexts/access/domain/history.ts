import { historyRules } from '../../../kernel/history-rules.js';
import {
  activateCredential,
  credentials,
  issueCredential,
  replaceCredential,
  restrictKey,
  revokeCredential,
  setPage,
} from './credentials.js';
import {
  merchant,
  registerMerchant,
  reinstateMerchant,
  renameMerchant,
  setAllowList,
  setEmbedding,
  setLimits,
  suspendMerchant,
} from './merchant.js';
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

export const merchantHistory = historyRules(
  merchant,
  {
    'merchant.registered.v1': ({ merchant_id: merchantId, name, registered_at: at }, state) =>
      state.status === 'unknown'
        ? registerMerchant({ merchantId, name, at }, state)
        : 'The merchant is registered already',
    'merchant.suspended.v1': ({ at }, state) => suspendMerchant({ at }, state),
    'merchant.reinstated.v1': ({ at }, state) => reinstateMerchant({ at }, state),
    'merchant.embedding_set.v1': ({ origins, callbacks, shown_as: display_name, at }, state) =>
      setEmbedding({ change: { origins, callbacks, display_name }, at }, state),
    'merchant.renamed.v1': (data, state) => renameMerchant(data, state),
    'merchant.limits_set.v1': (data, state) => setLimits(data, state),
    'merchant.ip_allow_list_set.v1': (data, state) => setAllowList(data, state),
  },
  { id: 'merchant_id' },
);

export const credentialHistory = historyRules(
  credentials,
  {
    'credential.issued.v1': (data, state) => issueCredential({ ...data, secret: data, terms: data }, state),
    'credential.activated.v1': (data, state) => activateCredential(data, state),
    'credential.rolled.v1': (data, state) => replaceCredential(data, state),
    'credential.revoked.v1': (data, state) => revokeCredential(data, state),
    'credential.restricted.v1': (data, state) => restrictKey(data, state),
    'credential.page_set.v1': (data, state) => setPage({ ...data, page: data }, state),
  },
  { id: 'owner_id' },
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

export const portalSessionHistory = historyRules(
  portalSession,
  {
    'portal_session.created.v1': (data, state) => createPortalSession(data, state),
    'portal_session.entered.v1': (data, state) =>
      enterPortal({ ...data, code_hash: state?.code_hash ?? '' }, state),
    'portal_session.revoked.v1': (data, state) => revokePortalSession(data, state),
  },
  { id: 'session_id' },
);
