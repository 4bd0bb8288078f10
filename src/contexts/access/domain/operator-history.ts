import { historyRules } from '../../../kernel/history-rules.js';
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
