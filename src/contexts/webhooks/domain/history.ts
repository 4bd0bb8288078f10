import { historyRules, onlyOnce, type HistoryRules } from '../../../kernel/history-rules.js';
import {
  disableFailing,
  disableGone,
  register,
  remove,
  rotateSecret,
  update,
  webhookEndpoints,
} from './webhook-endpoints.js';
import {
  webhookRecovery,
  webhookResend,
  webhookTest,
  type WebhookRecoveryRequested,
  type WebhookResendRequested,
  type WebhookTestRequested,
} from './webhook-requests.js';

/** The rules with which auditors compare the endpoints of each merchant. */
const endpointsHistory = historyRules(
  webhookEndpoints,
  {
    'webhook_endpoint.registered.v1': (data, state) =>
      state.byId.has(data.endpoint_id) ? 'the endpoint is registered once' : register(data, state),
    'webhook_endpoint.updated.v1': ({ url, description, event_types, updated_at: at, ...endpoint }, state) =>
      update({ ...endpoint, changes: { url, description, event_types }, at }, state),
    'webhook_endpoint.enabled.v1': (data, state) =>
      update({ ...data, changes: { status: 'enabled' } }, state),
    'webhook_endpoint.disabled.v1': ({ cause, ...data }, state) => {
      const attempt = {
        attempted_url: state.byId.get(data.endpoint_id)?.url ?? '',
        attempted_at: END_OF_TIME,
      };
      if (cause === 'gone') return disableGone({ ...data, ...attempt }, state);
      if (cause === 'failing') return disableFailing({ ...data, failing_since: END_OF_TIME }, state);
      return update({ ...data, changes: { status: 'disabled' } }, state);
    },
    'webhook_endpoint.secret_rotated.v1': (data, state) => rotateSecret(data, state),
    'webhook_endpoint.deleted.v1': (data, state) => remove(data, state),
  },
  { id: 'merchant_id' },
);

/** A time after all attempts: the history does not have their addresses and times. */
const END_OF_TIME = '9999-12-31T23:59:59.999Z';

export const WEBHOOK_HISTORIES: readonly HistoryRules[] = [
  endpointsHistory,
  onlyOnce<WebhookTestRequested>(webhookTest.category, 'webhook_endpoint.test_requested.v1').rules,
  onlyOnce<WebhookResendRequested>(webhookResend.category, 'webhook_delivery.resend_requested.v1').rules,
  onlyOnce<WebhookRecoveryRequested>(webhookRecovery.category, 'webhook_endpoint.recovery_requested.v1')
    .rules,
];
