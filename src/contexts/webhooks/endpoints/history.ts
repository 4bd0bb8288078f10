import { historyRules, type HistoryRules } from '../../../kernel/history-rules.js';
import {
  disableAutomatically,
  register,
  remove,
  rotateSecret,
  update,
  webhookEndpoints,
} from './webhook-endpoints.js';
import { REQUEST_HISTORIES } from '../recoveries/webhook-requests.js';

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
      const attempted_url = state.byId.get(data.endpoint_id)?.url ?? '';
      const attempt = { delivery_id: '', attempted_url, attempted_at: END_OF_TIME };
      if (cause === 'gone') return disableAutomatically({ ...data, reason: { cause, ...attempt } }, state);
      if (cause === 'failing')
        return disableAutomatically({ ...data, reason: { cause, failing_since: END_OF_TIME } }, state);
      return update({ ...data, changes: { status: 'disabled' } }, state);
    },
    'webhook_endpoint.secret_rotated.v1': (data, state) => rotateSecret(data, state),
    'webhook_endpoint.deleted.v1': (data, state) => remove(data, state),
  },
  { id: 'merchant_id' },
);

/** A time after all attempts: the events do not record their URLs and times. */
const END_OF_TIME = '9999-12-31T23:59:59.999Z';

export const WEBHOOK_HISTORIES: readonly HistoryRules[] = [endpointsHistory, ...REQUEST_HISTORIES];
