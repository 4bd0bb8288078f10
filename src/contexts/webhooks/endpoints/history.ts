import { historyRules, type HistoryRules } from '../../../kernel/history-rules.js';
import {
  disable,
  DISABLE_CAUSES,
  register,
  remove,
  rotateSecret,
  update,
  webhookEndpoints,
} from './webhook-endpoints.js';
import { REQUEST_HISTORIES } from '../recoveries/webhook-requests.js';

/** The rules by which an audit checks the history of a merchant's endpoints. */
const endpointsHistory = historyRules(
  webhookEndpoints,
  {
    'webhook_endpoint.registered.v1': (data, state) =>
      state.byId.has(data.endpoint_id) ? 'the endpoint is registered once' : register(data, state),
    'webhook_endpoint.updated.v1': ({ endpoint_id, merchant_id, updated_at: at, ...changes }, state) =>
      update({ endpoint_id, merchant_id, changes, at }, state),
    'webhook_endpoint.enabled.v1': (data, state) =>
      update({ ...data, changes: { status: 'enabled' } }, state),
    'webhook_endpoint.disabled.v1': (data, state) =>
      DISABLE_CAUSES.includes(data.cause) ? disable(data, state) : `its cause is ${data.cause}`,
    'webhook_endpoint.secret_rotated.v1': rotateSecret,
    'webhook_endpoint.deleted.v1': remove,
  },
  { id: 'merchant_id' },
);

export const WEBHOOK_HISTORIES: readonly HistoryRules[] = [endpointsHistory, ...REQUEST_HISTORIES];
