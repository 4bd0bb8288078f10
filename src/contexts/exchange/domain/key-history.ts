import { historyRules } from '../../../kernel/history-rules.js';
import {
  exchangeKey,
  issueExchangeKey,
  issueSecret,
  revokeExchangeKey,
  revokeSecret,
  setAddresses,
  setPage,
} from './exchange-key.js';

/** The secret that a key comes with is judged by its own event. */
const NO_SECRET = { secretId: '', sealed: '' };

/** What auditors hold each key of the exchange against. */
export const exchangeKeyHistory = historyRules(
  exchangeKey,
  {
    'exchange_key.issued.v1': (data, state) => {
      const { key_id: keyId, merchant_id: merchantId, label, issued_at: at } = data;
      const { demands_signature: demandsSignature, memo_signing: memoSigning } = data;
      const key = { keyId, merchantId, label, demandsSignature, memoSigning };
      return issueExchangeKey({ ...key, secret: NO_SECRET, at }, state);
    },
    'exchange_key.secret_issued.v1': ({ secret_id: secretId, sealed_secret: sealed, issued_at: at }, state) =>
      issueSecret({ secret: { secretId, sealed }, at }, state),
    'exchange_key.secret_revoked.v1': ({ secret_id: secretId, revoked_at: at }, state) =>
      revokeSecret({ secretId, at }, state),
    'exchange_key.revoked.v1': ({ revoked_at: at }, state) => revokeExchangeKey({ at }, state),
    'exchange_key.addresses_set.v1': ({ cidrs, at }, state) => setAddresses({ cidrs, at }, state),
    'exchange_key.page_set.v1': ({ logo, help_url: helpUrl, terms_url: termsUrl, at }, state) =>
      setPage({ page: { logo, helpUrl, termsUrl }, at }, state),
  },
  { id: 'key_id' },
);
