import type { Field } from '../../kit/fields.js';
import { textAt } from '../../kit/fields.js';
import { userGuidance } from '../guidance.js';
import { actionOn, CREATED, ID, toPage, type Resource } from '../../kit/resource.js';
import { BY_MERCHANT, HISTORY, MERCHANT } from '../resource.js';
import { ROLES } from '../../../src/contexts/access/operators/roles.js';
import { CREDENTIAL_FIELDS } from './credentials.js';

const PERSONAL = 'not visible to your role';

export const users: Resource = {
  name: 'users',
  title: 'Users',
  one: 'User',
  scope: 'users:read',
  status: 'account_state',
  empty: 'Merchants create users through their API.',
  fields: [
    ID,
    { label: 'External id', of: 'external_id' },
    { label: 'State', of: 'account_state', as: 'status' },
    { label: 'Stage', of: 'onboarding.stage' },
    { label: 'Waits for', of: 'onboarding.waiting_for' },
    MERCHANT,
    { label: 'Phone number', of: 'phone_number', none: PERSONAL, hidden: true },
    { label: 'Wallet', of: 'issuer_wallet_address', as: 'code', hidden: true },
    CREATED,
  ],
  filters: [
    {
      name: 'state',
      label: 'State',
      options: ['onboarding', 'active', 'deactivating', 'deactivated', 'erased'],
    },
    BY_MERCHANT,
    { name: 'external_id', label: 'External id' },
    { name: 'phone_number', label: 'Phone number', scope: 'users_personal:read' },
    { name: 'wallet', label: 'Wallet' },
  ],
  details: [
    ID,
    MERCHANT,
    { label: 'External id', of: 'external_id', as: 'id' },
    CREATED,
    { label: 'Phone number', of: 'phone_number', none: PERSONAL },
    { label: 'Email', of: 'email', none: 'none, or not visible to your role' },
    { label: 'First name', of: 'first_name' },
    { label: 'Last name', of: 'last_name' },
    { label: 'Date of birth', of: 'date_of_birth' },
    { label: 'Wallet', of: 'issuer_wallet_address', as: 'id' },
    { label: 'Onboarding stage', of: 'onboarding.stage' },
    { label: 'Waits for', of: 'onboarding.waiting_for' },
    { label: 'Reason', of: 'onboarding.reason' },
    { label: 'Next attempt', of: 'onboarding.next_at', as: 'time', unversioned: true },
  ],
  guidance: userGuidance,
  actions: [
    {
      label: 'Retry',
      path: actionOn('users', 'retry'),
      scope: 'users:write',
      revision: true,
      when: ({ account_state: state }) => state === 'onboarding',
      says: 'Retries now what the onboarding waits for: identity, wallet, card or activation.',
      done: 'The step is retried now.',
    },
    {
      label: 'Decide review',
      path: actionOn('users', 'review'),
      scope: 'users:write',
      revision: true,
      when: ({ account_state: state }) => state === 'onboarding',
      says: 'Decides an identity check that is under review.',
      fields: [
        {
          name: 'decision',
          label: 'Decision',
          kind: 'choice',
          options: ['approve', 'reject'],
          required: true,
          preset: 'approve',
        },
      ],
      done: 'The review is decided.',
    },
    {
      label: 'Deactivate',
      path: actionOn('users', 'deactivate'),
      scope: 'users:write',
      revision: true,
      danger: true,
      when: ({ account_state: state }) => state === 'active' || state === 'onboarding',
      says: 'The user takes no further payouts. It is deactivated as soon as no payout is pending. There is no way back.',
      done: 'The user is being deactivated.',
    },
    {
      label: 'Erase',
      path: actionOn('users', 'erase'),
      scope: 'users:write',
      revision: true,
      danger: true,
      when: ({ account_state: state }) => state === 'deactivated',
      says: 'Destroys the key of all personal data of this user, for good, once a second person has approved.',
      done: 'The user is erased.',
    },
  ],
  links: [
    {
      label: 'Payouts',
      href: (row) => `/payouts?user_id=${encodeURIComponent(textAt(row, 'id'))}`,
      scope: 'payouts:read',
    },
  ],
  related: [HISTORY],
};

const ROLE: Field = { label: 'Role', of: (row) => textAt(row, 'role').replaceAll('_', ' ') };

export const operators: Resource = {
  name: 'operators',
  title: 'Operators',
  one: 'Operator',
  scope: 'operators:read',
  heading: 'name',
  status: 'status',
  empty: 'Invite the people who run this service.',
  fields: [
    { label: 'Name', of: 'name' },
    { label: 'Email', of: 'email' },
    ROLE,
    { label: 'Status', of: 'status', as: 'status' },
    CREATED,
    { ...ID, hidden: true },
  ],
  filters: [{ name: 'status', label: 'Status', options: ['active', 'disabled'] }],
  create: [
    {
      label: 'Invite operator',
      path: () => '/operators',
      scope: 'operators:write',
      says: 'A second person approves, and then gets the one-time link with which the new operator enrols a passkey.',
      fields: [
        { name: 'name', label: 'Name', required: true },
        { name: 'email', label: 'Email', required: true },
        { name: 'role', label: 'Role', kind: 'choice', options: ROLES, preset: 'viewer', required: true },
      ],
      done: 'The operator is invited.',
    },
  ],
  details: [ID, { label: 'Email', of: 'email' }, ROLE, CREATED],
  actions: [
    {
      label: 'Change role',
      method: 'PATCH',
      path: actionOn('operators'),
      scope: 'operators:write',
      revision: true,
      says: 'A role with more rights needs a second person. Keys of this person lose what the new role lacks at once.',
      fields: [
        { name: 'role', label: 'Role', kind: 'choice', options: ROLES, initial: 'role', required: true },
      ],
      done: 'The role is changed.',
    },
    {
      label: 'Disable or enable',
      submit: 'Save',
      method: 'PATCH',
      path: actionOn('operators'),
      scope: 'operators:write',
      revision: true,
      danger: true,
      says: 'All keys and sessions of a disabled person are refused within two seconds.',
      fields: [
        {
          name: 'status',
          label: 'Status',
          kind: 'choice',
          options: ['active', 'disabled'],
          initial: 'status',
          required: true,
        },
      ],
      done: 'The status is changed.',
    },
  ],
  links: [
    {
      label: 'What this person did',
      href: (row) => `/operations?operator_id=${encodeURIComponent(textAt(row, 'id'))}`,
      scope: 'operations:read',
    },
  ],
  related: [
    {
      title: 'Credentials',
      fields: CREDENTIAL_FIELDS,
      empty: 'This person has no admin key.',
      from: (row) => ({ path: '/credentials', query: { operator_id: textAt(row, 'id') } }),
      open: toPage('credentials', 'id'),
      scope: 'credentials:read',
    },
    HISTORY,
  ],
};
