import { textAt } from '../../kit/fields.js';
import { actionOn, CREATED, ID, toPage, type Resource } from '../../kit/resource.js';
import { HISTORY } from '../resource.js';
import { CREDENTIAL_FIELDS } from './credentials.js';

const of = (name: string) => (row: Parameters<typeof textAt>[0]) =>
  `/${name}?merchant_id=${encodeURIComponent(textAt(row, 'id'))}`;

export const merchants: Resource = {
  name: 'merchants',
  title: 'Merchants',
  one: 'Merchant',
  scope: 'merchants:read',
  heading: 'name',
  status: 'status',
  empty: 'Create the first merchant to issue it a key.',
  fields: [
    { label: 'Name', of: 'name' },
    ID,
    { label: 'Status', of: 'status', as: 'status' },
    { label: 'Requests per minute', of: 'limits.requests_per_minute', as: 'number' },
    CREATED,
  ],
  filters: [
    { name: 'name', label: 'Name' },
    { name: 'status', label: 'Status', options: ['active', 'suspended'] },
  ],
  create: [
    {
      label: 'New merchant',
      path: () => '/merchants',
      scope: 'merchants:write',
      says: 'Creates an active merchant without a key. Issue its key afterwards.',
      fields: [{ name: 'name', label: 'Name', required: true }],
      done: 'The merchant is created.',
      then: (body) => toPage('merchants', 'merchant.id')(body),
    },
  ],
  details: [
    { label: 'svc-api-key', of: 'id', as: 'id' },
    { label: 'Created', of: 'created_at', as: 'time' },
    { label: 'Requests per minute', of: 'limits.requests_per_minute', as: 'number' },
    { label: 'Displayed as', of: 'embedding.display_name', none: 'its name' },
    { label: 'Allowed addresses', of: 'ip_allow_list', as: 'list', none: 'every address' },
    { label: 'Origins that may embed', of: 'embedding.origins', as: 'list', none: 'none' },
    { label: 'Callback URLs', of: 'embedding.callbacks', as: 'list', none: 'none' },
  ],
  guidance: ({ status }) =>
    status === 'suspended'
      ? {
          tone: 'bad',
          title: 'Suspended: both APIs, both pages and all deliveries of this merchant are stopped',
          text: 'Read under “Operations” who suspended it and why. Deliveries wait and continue after reinstating, which a second person must approve.',
        }
      : null,
  actions: [
    {
      label: 'Settings',
      submit: 'Save',
      method: 'PATCH',
      path: actionOn('merchants'),
      scope: 'merchants:write',
      revision: true,
      says: 'Only what you change is sent. A list replaces the previous one.',
      fields: [
        { name: 'name', label: 'Name', initial: 'name', required: true },
        {
          name: 'ip_allow_list',
          label: 'Allowed addresses',
          kind: 'lines',
          initial: 'ip_allow_list',
          hint: 'Addresses or network ranges, one a line. Empty: every address.',
        },
        { name: 'embedding.display_name', label: 'Displayed as', initial: 'embedding.display_name' },
        {
          name: 'embedding.origins',
          label: 'Origins that may embed',
          kind: 'lines',
          initial: 'embedding.origins',
          hint: 'https://shop.example, one a line.',
        },
        {
          name: 'embedding.callbacks',
          label: 'Callback URLs',
          kind: 'lines',
          initial: 'embedding.callbacks',
        },
      ],
      done: 'The settings are changed.',
    },
    {
      label: 'Change limit',
      method: 'PATCH',
      path: actionOn('merchants'),
      scope: 'merchants:write',
      revision: true,
      says: 'A lower limit applies at once. A higher one needs a second person.',
      fields: [
        {
          name: 'limits.requests_per_minute',
          label: 'Requests per minute',
          kind: 'number',
          initial: 'limits.requests_per_minute',
          required: true,
        },
      ],
      done: 'The limit is changed.',
    },
    {
      label: 'Suspend',
      path: actionOn('merchants', 'suspend'),
      scope: 'merchants:write',
      revision: true,
      danger: true,
      when: ({ status }) => status === 'active',
      says: 'Stops both APIs, both pages and all deliveries of this merchant within two seconds. It happens at once; a second person must confirm it within 24 hours.',
      done: 'The merchant is suspended. A second person must confirm it within 24 hours.',
    },
    {
      label: 'Reinstate',
      path: actionOn('merchants', 'reinstate'),
      scope: 'merchants:write',
      revision: true,
      when: ({ status }) => status === 'suspended',
      says: 'Starts the APIs, pages and deliveries of this merchant again, once a second person has approved.',
      done: 'The merchant is reinstated.',
    },
  ],
  links: [
    { label: 'Users', href: of('users'), scope: 'users:read' },
    { label: 'Payouts', href: of('payouts'), scope: 'payouts:read' },
    { label: 'Orders', href: of('orders'), scope: 'orders:read' },
    { label: 'Endpoints', href: of('webhook_endpoints'), scope: 'webhooks:read' },
    { label: 'Deliveries', href: of('deliveries'), scope: 'webhooks:read' },
    { label: 'Requests', href: of('requests'), scope: 'requests:read' },
  ],
  related: [
    {
      title: 'Credentials',
      fields: CREDENTIAL_FIELDS,
      empty: 'No key yet: this merchant cannot call the API.',
      from: (row) => ({ path: '/credentials', query: { merchant_id: textAt(row, 'id') } }),
      open: toPage('credentials', 'id'),
      all: of('credentials'),
      scope: 'credentials:read',
    },
    HISTORY,
  ],
};
