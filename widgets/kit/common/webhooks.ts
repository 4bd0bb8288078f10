import type { DisableCause } from '../../../src/contexts/webhooks/endpoints/webhook-endpoints.js';
import { isRow, rowsAt, textAt, type Field, type Row } from '../fields.js';
import type { Filter } from '../list.js';
import { CREATED, ID, type Guidance, type Related, type Resource } from '../resource.js';

const DISABLED_BY: Readonly<Record<string, string>> = {
  merchant: 'the merchant',
  gone: 'a response with 410',
  failing: 'sustained failures',
} satisfies Record<DisableCause, string>;

/** The fields of a webhook endpoint. */
export const ENDPOINT_FIELDS: readonly Field[] = [
  { label: 'URL', of: 'url' },
  { label: 'Status', of: endpointStatus, as: 'status' },
  { label: 'Failures', of: 'failure_count', as: 'number' },
  { label: 'Disabled by', of: (row) => DISABLED_BY[textAt(row, 'disabled_cause')] },
  { label: 'Disabled', of: 'disabled_at', as: 'time' },
];

/** Checks whether deliveries to the endpoint fail now, or were stopped because of failures. */
export function isFailing(row: Row): boolean {
  const cause = textAt(row, 'disabled_cause');
  return Number(row['failure_count'] ?? 0) > 0 || cause === 'failing' || cause === 'gone';
}

/** Returns `failing` instead of `enabled` while attempts fail. */
export function endpointStatus(row: Row): string {
  return row['status'] === 'enabled' && isFailing(row) ? 'failing' : textAt(row, 'status');
}

/** Joins the endpoint of a delivery as `endpoint`, which is null after a deletion and absent if not read. */
export const joinEndpoint = (
  scope: string,
  from: NonNullable<Resource['joins']>['from'],
): Resource['joins'] => ({ as: 'endpoint', of: 'webhook_endpoint_id', scope, from });

/** True if the delivery waits until its endpoint is enabled. A test delivery reaches a disabled endpoint. */
export function isForDisabled({ endpoint, type }: Row): boolean {
  return isRow(endpoint) && endpoint['status'] === 'disabled' && type !== 'webhook_endpoint.test';
}

/** Checks that the API would send the delivery again. */
export const canResend = (row: Row): boolean => row['endpoint'] !== null && !isForDisabled(row);

/** The columns of deliveries. */
export const DELIVERY_FIELDS: readonly Field[] = [
  ID,
  { label: 'Type', of: 'type' },
  { label: 'Status', of: 'status', as: 'status' },
  { label: 'Attempts', of: 'attempt_count', as: 'number' },
  { label: 'Next attempt', of: 'next_attempt_at', as: 'time' },
];
export const DELIVERY_MORE: readonly Field[] = [
  { label: 'Endpoint', of: 'webhook_endpoint_id', as: 'code', hidden: true },
  { label: 'Finished', of: 'finished_at', as: 'time', hidden: true },
  CREATED,
];

/** The filters of deliveries. `more` has the filters that follow the type. */
export const deliveryFilters = (...more: readonly Filter[]): readonly Filter[] => [
  { name: 'status', label: 'Status', options: ['pending', 'succeeded', 'exhausted', 'dropped'] },
  { name: 'type', label: 'Type' },
  ...more,
  { name: 'endpoint_id', label: 'Endpoint id' },
  { name: 'from', label: 'Created from', type: 'date' },
  { name: 'to', label: 'Created to', type: 'date' },
];

/** The details of a delivery. `whose` has the fields that follow the type, with the endpoint. */
export const deliveryDetails = (...whose: readonly Field[]): readonly Field[] => [
  { label: 'webhook-id', of: 'id', as: 'id' },
  { label: 'Type', of: 'type' },
  ...whose,
  {
    label: 'Endpoint is',
    of: ({ endpoint }) => (isRow(endpoint) ? endpointStatus(endpoint) : endpoint === null ? 'deleted' : ''),
    as: 'status',
  },
  CREATED,
  { label: 'Attempts', of: 'attempt_count', as: 'number' },
  { label: 'Next attempt', of: 'next_attempt_at', as: 'time', none: 'none' },
  { label: 'Finished', of: 'finished_at', as: 'time' },
  { label: 'Payload', of: 'payload', as: 'json' },
];

/**
 * Describes the state of a delivery. `remedy` has the reader's next step for a failing delivery, an exhausted
 * one, and one whose endpoint is disabled.
 */
export function deliveryGuidance(
  row: Row,
  receiver: string,
  remedy: Readonly<Record<'pending' | 'exhausted' | 'disabled', string>>,
): Guidance | null {
  const last = rowsAt(row, 'attempts').at(-1);
  const code = textAt(last, 'http_status');
  const why =
    code === ''
      ? textAt(last, 'error') || textAt(last, 'error_class')
      : `${receiver} receiver responded with ${code}`;
  const remedyFor = (usual: string): string =>
    isForDisabled(row) ? remedy.disabled : row['endpoint'] === null ? DELETED : usual;
  switch (row['status']) {
    case 'pending':
      if (!canResend(row))
        return {
          tone: 'bad',
          title: `The endpoint is ${isForDisabled(row) ? 'disabled' : 'deleted'}: it is dropped when its next attempt is due`,
          text: remedyFor(''),
        };
      if (last === undefined)
        return { tone: 'busy', title: 'Not sent yet', text: 'The first attempt follows at once.' };
      return {
        tone: 'warn',
        title: `The last attempt failed: ${why || 'no response'}`,
        text: remedy.pending,
      };
    case 'exhausted':
      return {
        tone: 'bad',
        title: `No further automatic attempt: ${why || 'all attempts failed'}`,
        text: remedyFor(remedy.exhausted),
      };
    case 'dropped':
      return {
        tone: 'bad',
        title: 'Dropped: the endpoint was disabled or deleted',
        text: remedyFor('“Resend” sends it after all.'),
      };
    default:
      return null;
  }
}

const DELETED = 'It cannot be sent: its endpoint was deleted.';

/** Checks whether the service may attempt the delivery again. */
export const isUnfinished = ({ status }: Row): boolean => status === 'pending';

/** The attempts of a delivery. */
export const ATTEMPTS: Related = {
  title: 'Attempts',
  rows: 'attempts',
  empty: 'Nothing has been sent yet.',
  fields: [
    { label: 'Attempt', of: 'attempt', as: 'number' },
    { label: 'Started', of: 'started_at', as: 'time' },
    { label: 'Outcome', of: 'outcome', as: 'status' },
    { label: 'Status', of: 'http_status', as: 'status', none: 'no response' },
    { label: 'Latency', of: 'latency_ms', as: 'ms' },
    { label: 'Failed at', of: 'error_class' },
    { label: 'Error', of: 'error' },
    { label: 'Response begins', of: 'response_excerpt', as: 'block' },
  ],
};

/** The columns of the request log. */
export const REQUEST_FIELDS: readonly Field[] = [
  { label: 'At', of: 'at', as: 'time' },
  { label: 'Method', of: 'method' },
  { label: 'Path', of: 'path' },
  { label: 'Status', of: 'status', as: 'status' },
  { label: 'Duration', of: 'duration_ms', as: 'ms' },
  { label: 'Refusal', of: 'refusal' },
];

/** The details of a request. `whose` has the fields that follow the duration. */
export const requestDetails = (...whose: readonly Field[]): readonly Field[] => [
  { label: 'Request id', of: 'request_id', as: 'id' },
  { label: 'At', of: 'at', as: 'time' },
  { label: 'Method', of: 'method' },
  { label: 'Path', of: 'path', as: 'id' },
  { label: 'Names in the query', of: 'query_names', as: 'list' },
  { label: 'Duration', of: 'duration_ms', as: 'ms' },
  ...whose,
  { label: 'Refusal', of: 'refusal' },
  { label: 'String to sign, as the service computed it', of: 'string_to_sign', as: 'block' },
];
export const REQUEST_FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Status' },
  { name: 'path', label: 'Path begins with' },
  { name: 'request_id', label: 'Request id' },
];
/** Reads a request from the list, because the API has no route for a single one. */
export const readRequest = (id: string) => ({
  path: '/requests',
  query: { request_id: id },
  of: 'request_id',
});
