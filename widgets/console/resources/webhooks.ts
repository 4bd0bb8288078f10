import {
  ATTEMPTS,
  canResend,
  DELIVERY_FIELDS,
  DELIVERY_MORE,
  deliveryDetails,
  deliveryFilters,
  ENDPOINT_FIELDS,
  isUnfinished,
  joinEndpoint,
  readRequest,
  REQUEST_FIELDS,
  REQUEST_FILTERS,
  requestDetails,
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
    { label: 'Types', of: 'event_types', as: 'list', none: 'all but those of orders', hidden: true },
    { ...ID, hidden: true },
    { ...CREATED, hidden: true },
  ],
  filters: [{ name: 'status', label: 'Status', options: ['enabled', 'disabled'] }, BY_MERCHANT],
  open: deliveriesOf,
};

export const deliveries: Resource = {
  name: 'deliveries',
  title: 'Deliveries',
  one: 'Delivery',
  scope: 'webhooks:read',
  status: 'status',
  empty: 'Events of merchants with an endpoint are delivered here.',
  fields: [...DELIVERY_FIELDS, MERCHANT, ...DELIVERY_MORE],
  filters: deliveryFilters(BY_MERCHANT),
  details: deliveryDetails(MERCHANT, {
    label: 'Endpoint',
    of: 'webhook_endpoint_id',
    as: 'id',
    to: (row) => `/deliveries?endpoint_id=${encodeURIComponent(textAt(row, 'webhook_endpoint_id'))}`,
  }),
  polls: isUnfinished,
  joins: joinEndpoint('webhooks:read', ({ merchant_id }) => ({
    path: '/webhook_endpoints',
    query: { merchant_id: String(merchant_id) },
  })),
  guidance: deliveryGuidance,
  actions: [
    {
      label: 'Resend',
      path: actionOn('deliveries', 'resend'),
      scope: 'webhooks:write',
      when: canResend,
      says: 'Sends the same payload under the same webhook-id at once; attempts are scheduled from the start. Receivers that have processed it ignore it.',
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
  read: readRequest,
  heading: 'request_id',
  fields: [...REQUEST_FIELDS, MERCHANT, { label: 'Request id', of: 'request_id', as: 'code', hidden: true }],
  filters: [BY_MERCHANT, ...REQUEST_FILTERS],
  details: requestDetails(MERCHANT, {
    label: 'Credential',
    of: 'credential_id',
    as: 'id',
    to: toPage('credentials', 'credential_id'),
  }),
  guidance: requestGuidance,
};
