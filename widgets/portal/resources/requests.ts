import { readRequest, REQUEST_FIELDS, REQUEST_FILTERS, requestDetails } from '../../kit/common/webhooks.js';
import { OFTEN_MS } from '../../kit/data.js';
import { textAt, type Row } from '../../kit/fields.js';
import { toPage, type Guidance, type Resource } from '../../kit/resource.js';

export const requests: Resource = {
  name: 'requests',
  title: 'Requests',
  one: 'Request',
  scope: 'requests:read',
  status: 'status',
  lead: 'Your calls of the merchant and exchange APIs of the last 7 days. Bodies and values of queries are never recorded.',
  empty: 'There was no request in the last 7 days.',
  open: toPage('requests', 'request_id'),
  read: readRequest,
  heading: 'request_id',
  fields: [...REQUEST_FIELDS, { label: 'Request id', of: 'request_id', as: 'code', hidden: true }],
  filters: REQUEST_FILTERS,
  every: OFTEN_MS,
  details: requestDetails({
    label: 'Key',
    of: 'credential_id',
    as: 'id',
    to: toPage('keys', 'credential_id'),
    toScope: 'keys:read',
  }),
  guidance: requestGuidance,
};

function requestGuidance(row: Row): Guidance | null {
  const status = Number(row['status']);
  if (textAt(row, 'string_to_sign') !== '')
    return {
      tone: 'warn',
      title: 'The signature did not match',
      text: 'Compare the text below with the one that you signed: the timestamp, the method, the path without the query, and the SHA-256 of the body as sent. If all are equal, another key signed it.',
    };
  if (status === 429)
    return {
      tone: 'warn',
      title: 'Beyond the limit',
      text: 'Wait as long as Retry-After says, then retry with the same Idempotency-Key.',
    };
  if (status >= 500)
    return {
      tone: 'bad',
      title: `The service failed with ${status}`,
      text: 'Retry with the same Idempotency-Key. If it continues, send the request id to your account manager.',
    };
  return null;
}
