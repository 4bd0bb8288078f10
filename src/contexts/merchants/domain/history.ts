import { historyRules } from '../../../kernel/history-rules.js';
import {
  issueKey,
  merchant,
  registerMerchant,
  reinstateMerchant,
  revokeKey,
  setEmbedding,
  setIpAllowList,
  suspendMerchant,
} from './merchant.js';

/** The key that a registration brings is judged by its own event. */
const NO_KEY = { keyId: '', sealed: '' };

/** What auditors hold each merchant against. */
export const merchantHistory = historyRules(
  merchant,
  {
    'merchant.registered.v1': ({ merchant_id: merchantId, name, registered_at: at }, state) =>
      registerMerchant({ merchantId, name, key: NO_KEY, at }, state),
    'merchant.key_issued.v1': ({ key_id: keyId, sealed_private_key: sealed, issued_at: at }, state) =>
      issueKey({ key: { keyId, sealed }, at }, state),
    'merchant.key_revoked.v1': ({ key_id: keyId, revoked_at: at }, state) => revokeKey({ keyId, at }, state),
    'merchant.suspended.v1': ({ at }, state) => suspendMerchant({ at }, state),
    'merchant.reinstated.v1': ({ at }, state) => reinstateMerchant({ at }, state),
    'merchant.ip_allow_list_set.v1': ({ cidrs, at }, state) => setIpAllowList({ cidrs, at }, state),
    'merchant.embedding_set.v1': ({ origins, callbacks, shown_as: shownAs, at }, state) =>
      setEmbedding({ change: { origins, callbacks, shownAs }, at }, state),
  },
  { id: 'merchant_id' },
);
