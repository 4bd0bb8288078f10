import {
  ATTEMPTS,
  DELIVERY_STATUSES,
  ENDPOINT_FIELDS,
  isFailing,
  REQUEST_FIELDS,
} from '../../kit/common/webhooks.js';
import { textAt, type Row } from '../../kit/fields.js';
import { deliveryGuidance, requestGuidance } from '../guidance.js';
import { actionOn, CREATED, ID, toPage, type Resource } from '../../kit/resource.js';
import { BY_MERCHANT, MERCHANT } from '../resource.js';

const deliveriesOf = (row: Row): string => `/deliveries?endpoint_id=${encodeURIComponent(textAt(row, 'id'))}`;

export const webhookEndpoints: Resource = {
  name: 'webhook_endpoints',
  title: 'Webhook endpoints',
  one: 'Webhook endpoint',
  scope: 'webhooks:read',
  lead: 'A row opens the deliveries of the endpoint. A disabled endpoint loses what happens until its merchant enables it again.',
  empty: 'Merchants register endpoints through their API or the portal.',
  fields: [
    ...ENDPOINT_FIELDS,
    MERCHANT,
    { label: 'Description', of: 'description', hidden: true },
    { label: 'Types', of: 'event_types', as: 'list', none: 'all', hidden: true },
    { ...ID, hidden: true },
    { ...CREATED, hidden: true },
  ],
  filters: [
    { name: 'status', label: 'Status', options: ['enabled', 'disabled'] },
    { name: 'trouble', label: 'Trouble', options: ['failing'], local: (row) => isFailing(row) },
    BY_MERCHANT,
  ],
  open: deliveriesOf,
};

export const deliveries: Resource = {
  name: 'deliveries',
  title: 'Deliveries',
  one: 'Delivery',
  scope: 'webhooks:read',
  status: 'status',
  empty: 'Events of merchants with an endpoint are delivered here.',
  fields: [
    ID,
    { label: 'Type', of: 'type' },
    { label: 'Status', of: 'status', as: 'status' },
    { label: 'Attempts', of: 'attempt_count', as: 'number' },
    { label: 'Next attempt', of: 'next_attempt_at', as: 'time' },
    MERCHANT,
    { label: 'Endpoint', of: 'webhook_endpoint_id', as: 'code', hidden: true },
    { label: 'Finished', of: 'finished_at', as: 'time', hidden: true },
    CREATED,
  ],
  filters: [
    { name: 'status', label: 'Status', options: DELIVERY_STATUSES },
    { name: 'type', label: 'Type' },
    BY_MERCHANT,
    { name: 'endpoint_id', label: 'Endpoint id' },
    { name: 'from', label: 'Created from', type: 'date' },
    { name: 'to', label: 'Created to', type: 'date' },
  ],
  details: [
    { label: 'webhook-id', of: 'id', as: 'id' },
    { label: 'Type', of: 'type' },
    MERCHANT,
    {
      label: 'Endpoint',
      of: 'webhook_endpoint_id',
      as: 'id',
      to: (row) => `/deliveries?endpoint_id=${encodeURIComponent(textAt(row, 'webhook_endpoint_id'))}`,
    },
    CREATED,
    { label: 'Attempts', of: 'attempt_count', as: 'number' },
    { label: 'Next attempt', of: 'next_attempt_at', as: 'time', none: 'none' },
    { label: 'Finished', of: 'finished_at', as: 'time' },
    { label: 'Payload', of: 'payload', as: 'json' },
  ],
  guidance: deliveryGuidance,
  actions: [
    {
      label: 'Resend',
      path: actionOn('deliveries', 'resend'),
      scope: 'webhooks:write',
      when: ({ status }) => status !== 'pending',
      says: 'Sends the same payload under the same webhook-id again. Receivers that have processed it ignore it.',
      done: 'The delivery is sent again.',
    },
  ],
  related: [ATTEMPTS],
};

export const requests: Resource = {
  name: 'requests',
  title: 'Requests',
  one: 'Request',
  scope: 'requests:read',
  status: 'status',
  lead: 'Calls of the merchant and exchange APIs of the last 7 days. Bodies and values of queries are never recorded.',
  empty: 'No request in the last 7 days.',
  open: toPage('requests', 'request_id'),
  read: (id) => ({ path: '/requests', query: { request_id: id }, of: 'request_id' }),
  heading: 'request_id',
  fields: [...REQUEST_FIELDS, MERCHANT, { label: 'Request id', of: 'request_id', as: 'code', hidden: true }],
  filters: [
    BY_MERCHANT,
    { name: 'status', label: 'Status' },
    { name: 'path', label: 'Path begins with' },
    { name: 'request_id', label: 'Request id' },
  ],
  details: [
    { label: 'Request id', of: 'request_id', as: 'id' },
    { label: 'At', of: 'at', as: 'time' },
    { label: 'Method', of: 'method' },
    { label: 'Path', of: 'path', as: 'id' },
    { label: 'Names in the query', of: 'query_names', as: 'list' },
    { label: 'Duration', of: 'duration_ms', as: 'ms' },
    MERCHANT,
    { label: 'Credential', of: 'credential_id', as: 'id', to: toPage('credentials', 'credential_id') },
    { label: 'Refusal', of: 'refusal' },
    { label: 'String to sign, as the service computed it', of: 'string_to_sign', as: 'block' },
  ],
  guidance: requestGuidance,
};
