import type { Row } from '../../kit/fields.js';
import { actionOn, CREATED, ID, type Resource } from '../../kit/resource.js';

const isUsable = ({ status }: Row): boolean => status === 'active' || status === 'rolling';

export const keys: Resource = {
  name: 'keys',
  title: 'Keys',
  one: 'Key',
  scope: 'keys:read',
  heading: 'name',
  status: 'status',
  // The API has no route for a single key.
  read: () => ({ path: '/keys', query: { page_size: '1000' } }),
  lead: 'Keys of kind payouts sign calls of the merchant API, keys of kind exchange calls of the exchange API. Your account manager issues keys of kind exchange.',
  empty: 'Create the first key to call the API.',
  fields: [
    { label: 'Name', of: 'name', none: 'unnamed' },
    { label: 'Kind', of: 'kind' },
    { label: 'Status', of: 'status', as: 'status' },
    { label: 'Last used', of: 'last_used_at', as: 'time', none: 'never' },
    { label: 'Expires', of: 'expires_at', as: 'time', none: 'never' },
    { ...CREATED, hidden: true },
    { ...ID, hidden: true },
  ],
  filters: [
    { name: 'kind', label: 'Kind', options: ['payouts', 'exchange'] },
    { name: 'status', label: 'Status', options: ['active', 'rolling', 'revoked', 'expired'] },
  ],
  create: [
    {
      label: 'Create key',
      path: () => '/keys',
      scope: 'keys:write',
      says: 'Creates a key of kind payouts. Its private key is displayed once, in the next step. Two can be active at a time, so that you can replace one without an interruption.',
      fields: [
        {
          name: 'name',
          label: 'Name',
          required: true,
          hint: 'Where it is used, such as “backend, production”.',
        },
        { name: 'expires_at', label: 'Expires', kind: 'time', hint: 'In UTC. Empty: never.' },
      ],
      done: 'The key is created.',
    },
  ],
  details: [
    ID,
    { label: 'Kind', of: 'kind' },
    { label: 'Public key', of: 'api_key', as: 'id' },
    CREATED,
    { label: 'Last used', of: 'last_used_at', as: 'time', none: 'never' },
    { label: 'Expires', of: 'expires_at', as: 'time', none: 'never' },
    { label: 'Network ranges', of: 'addresses', as: 'list', none: 'every address' },
    { label: 'Withdraw addresses', of: 'withdraw_addresses', as: 'list' },
    { label: 'Requests must be signed', of: 'demands_signing', as: 'yes' },
    { label: 'Signature of tags and memos', of: 'memo_signing' },
  ],
  guidance: ({ status }) => {
    if (status === 'rolling')
      return {
        tone: 'warn',
        title: 'Being replaced',
        text: 'A new key exists. This one works until the overlap ends; revoke it as soon as “Last used” no longer moves.',
      };
    if (status !== 'expired') return null;
    return {
      tone: 'bad',
      title: 'Expired',
      text: 'Calls with it are refused with 401. Create another key and use it instead.',
    };
  },
  primary: () => '',
  actions: [
    {
      label: 'Revoke',
      path: actionOn('keys', 'revoke'),
      scope: 'keys:write',
      danger: true,
      when: isUsable,
      says: 'Ends the key for good, within two seconds. Calls with it are refused with 401 from then on.',
      done: 'The key is revoked.',
    },
  ],
};
