import type { Field } from '../../kit/fields.js';
import { rolling, type Values } from '../../kit/form.js';
import { actionOn, ID, toPage, type Resource } from '../../kit/resource.js';
import { BY_MERCHANT, HISTORY, MERCHANT } from '../resource.js';
import { SCOPES } from '../../../src/contexts/access/operators/roles.js';

const LAST_USED: Field = {
  label: 'Last used',
  of: 'last_used_at',
  as: 'time',
  none: 'never',
  unversioned: true,
};

export const CREDENTIAL_FIELDS: readonly Field[] = [
  { label: 'Name', of: 'name', none: 'unnamed' },
  { label: 'Kind', of: 'kind' },
  { label: 'Status', of: 'status', as: 'status' },
  LAST_USED,
  { label: 'Expires', of: 'expires_at', as: 'time', none: 'never' },
];

const only =
  (...kinds: readonly string[]) =>
  (values: Values): boolean =>
    kinds.includes(values['kind'] ?? '');
const isAlive = ({ status }: { status?: unknown }): boolean => status === 'active' || status === 'rolling';

export const credentials: Resource = {
  name: 'credentials',
  title: 'Credentials',
  one: 'Credential',
  scope: 'credentials:read',
  heading: 'name',
  status: 'status',
  empty: 'No key has been issued yet.',
  fields: [
    ...CREDENTIAL_FIELDS.slice(0, 3),
    MERCHANT,
    ...CREDENTIAL_FIELDS.slice(3),
    { ...ID, hidden: true },
  ],
  filters: [
    { name: 'kind', label: 'Kind', options: ['payouts', 'exchange', 'admin'] },
    { name: 'status', label: 'Status', options: ['pending', 'active', 'rolling', 'revoked', 'expired'] },
    BY_MERCHANT,
    { name: 'operator_id', label: 'Operator id' },
  ],
  create: [
    {
      label: 'Issue credential',
      path: () => '/credentials',
      scope: 'credentials:write',
      says: 'The secret is displayed once, in the next step. An admin key is your own and needs a second person.',
      fields: [
        {
          name: 'kind',
          label: 'Kind',
          kind: 'choice',
          options: ['payouts', 'exchange', 'admin'],
          preset: 'payouts',
          required: true,
        },
        {
          name: 'name',
          label: 'Name',
          required: true,
          hint: 'Where it is used, such as “backend, production”.',
        },
        { name: 'merchant_id', label: 'Merchant id', when: only('payouts', 'exchange'), required: true },
        {
          name: 'scopes',
          label: 'Scopes (none: those of your role)',
          kind: 'checks',
          options: SCOPES,
          when: only('admin'),
        },
        {
          name: 'merchants',
          label: 'Merchants',
          kind: 'lines',
          when: only('admin'),
          hint: 'Ids, one a line. Empty: all merchants.',
        },
        {
          name: 'addresses',
          label: 'Network ranges',
          kind: 'lines',
          hint: 'One a line. Empty: every address.',
        },
        { name: 'withdraw_addresses', label: 'Withdraw addresses', kind: 'lines', when: only('exchange') },
        {
          name: 'demands_signing',
          label: 'Requests must be signed',
          kind: 'tick',
          preset: 'true',
          when: only('exchange'),
        },
        {
          name: 'memo_signing',
          label: 'Signature of tags and memos',
          kind: 'choice',
          options: ['full'],
          when: only('exchange'),
        },
        { name: 'expires_at', label: 'Expires', kind: 'time', hint: 'In UTC. Empty: never.' },
      ],
      done: 'The credential is issued.',
      then: (body) => toPage('credentials', 'credential.id')(body),
    },
    {
      label: 'Issue own admin key',
      path: () => '/credentials',
      when: (_, { can }) => !can('credentials:write'),
      says: 'The secret is displayed once, in the next step. The key may do what your role may, and needs a second person.',
      fields: [
        { name: 'kind', label: 'Kind', kind: 'choice', options: ['admin'], preset: 'admin', required: true },
        { name: 'name', label: 'Name', required: true, hint: 'Where it is used, such as “laptop”.' },
        {
          name: 'addresses',
          label: 'Network ranges',
          kind: 'lines',
          hint: 'One a line. Empty: every address.',
        },
        { name: 'expires_at', label: 'Expires', kind: 'time', hint: 'In UTC. Empty: never.' },
      ],
      done: 'The credential is issued.',
      then: (body) => toPage('credentials', 'credential.id')(body),
    },
    {
      label: 'Revoke a leaked key',
      path: () => '/credentials/revoke_leaked',
      scope: 'credentials:write',
      danger: true,
      says: 'Revokes the credential that this secret belongs to, within two seconds everywhere.',
      fields: [
        { name: 'token', label: 'The leaked secret', required: true },
        { name: 'url', label: 'Address where it was found', required: true },
      ],
      done: 'If the secret was valid, its credential is revoked.',
      then: (body) => toPage('credentials', 'credential_id')(body),
    },
  ],
  details: [
    ID,
    { label: 'Kind', of: 'kind' },
    MERCHANT,
    { label: 'Operator', of: 'operator_id', as: 'id', to: toPage('operators', 'operator_id') },
    { label: 'Public key', of: 'api_key', as: 'id' },
    { label: 'Created', of: 'created_at', as: 'time' },
    LAST_USED,
    { label: 'Expires', of: 'expires_at', as: 'time', none: 'never' },
    { label: 'Scopes', of: 'scopes', as: 'list' },
    { label: 'Merchants', of: 'merchants', as: 'list', none: 'all' },
    { label: 'Network ranges', of: 'addresses', as: 'list', none: 'every address' },
    { label: 'Withdraw addresses', of: 'withdraw_addresses', as: 'list', none: 'every address' },
    { label: 'Requests must be signed', of: 'demands_signing', as: 'yes' },
    { label: 'Signature of tags and memos', of: 'memo_signing' },
  ],
  guidance: ({ status }) => {
    if (status === 'pending')
      return {
        tone: 'warn',
        title: 'Not usable yet',
        text: 'A second person must approve the operation below within 72 hours of the request.',
      };
    if (status !== 'rolling') return null;
    return {
      tone: 'warn',
      title: 'Being replaced',
      text: 'A new credential exists. This one works until the overlap ends; revoke it as soon as nothing uses it (see “Last used”).',
    };
  },
  actions: [
    {
      label: 'Roll',
      path: actionOn('credentials', 'roll'),
      revision: true,
      when: (row, { me, can }) =>
        row['status'] === 'active' &&
        (row['kind'] === 'admin' ? row['operator_id'] === me : can('credentials:write')),
      says: 'Issues a new secret with the same rights.',
      ...rolling(168),
      done: 'The credential is rolled.',
    },
    {
      label: 'Revoke',
      path: actionOn('credentials', 'revoke'),
      scope: 'credentials:write',
      revision: true,
      danger: true,
      when: (row) => isAlive(row) || row['status'] === 'pending',
      says: 'Ends it for good, within two seconds everywhere. Requests with it are refused with 401 from then on.',
      done: 'The credential is revoked.',
    },
  ],
  related: [HISTORY],
};
