import { historyRules } from '../../../kernel/history-rules.js';
import {
  issueSecret,
  KINDS,
  revokeSecret,
  setAddresses,
  type Credential,
  type CredentialEvent,
  type CredentialKind,
} from './credential.js';
import { exchangeKey, issueExchangeKey, revokeExchangeKey, setPage } from './exchange-key.js';
import { merchant, registerMerchant, reinstateMerchant, setEmbedding, suspendMerchant } from './merchant.js';

/** The secret that comes with the first event is verified by its own. */
const NO_SECRET = { secretId: '', sealed: '' };

type CredentialDecisions<Kind extends CredentialKind> = Record<
  CredentialEvent<Kind>['type'],
  (data: object, state: Credential) => readonly CredentialEvent<Kind>[]
>;

function ofEveryKind<Kind extends CredentialKind>(kind: Kind): CredentialDecisions<Kind> {
  const { secretIssued, secretRevoked, addressesSet, secretId: id, sealed: text } = KINDS[kind];
  type Data = Readonly<Record<string, string>>;
  return {
    [secretIssued]: (
      { [id]: secretId = '', [text]: sealed = '', issued_at: at = '' }: Data,
      state: Credential,
    ) => issueSecret(kind, { secret: { secretId, sealed }, at }, state),
    [secretRevoked]: ({ [id]: secretId = '', revoked_at: at = '' }: Data, state: Credential) =>
      revokeSecret(kind, { secretId, at }, state),
    [addressesSet]: ({ cidrs, at }: { cidrs: readonly string[]; at: string }, state: Credential) =>
      setAddresses(kind, { cidrs, at }, state),
  } as unknown as CredentialDecisions<Kind>;
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
    ...ofEveryKind('api_key'),
  },
  { id: KINDS.api_key.id },
);

export const exchangeKeyHistory = historyRules(
  exchangeKey,
  {
    'exchange_key.issued.v1': (data, state) => {
      const { key_id: keyId, merchant_id: merchantId, label, issued_at: at } = data;
      const { demands_signature: demandsSignature, memo_signing: memoSigning } = data;
      const key = { keyId, merchantId, label, demandsSignature, memoSigning };
      return issueExchangeKey({ ...key, secret: NO_SECRET, at }, state);
    },
    'exchange_key.revoked.v1': ({ revoked_at: at }, state) => revokeExchangeKey({ at }, state),
    'exchange_key.page_set.v1': ({ logo, help_url: helpUrl, terms_url: termsUrl, at }, state) =>
      setPage({ page: { logo, helpUrl, termsUrl }, at }, state),
    ...ofEveryKind('exchange_key'),
  },
  { id: KINDS.exchange_key.id },
);
