import { listOf, type Resource } from '../../kit/resource.js';

/** The scope of resources that every session may read. */
export const ANYONE = '';

export const events: Resource = {
  name: 'events',
  title: 'Events',
  one: 'Event',
  scope: 'events:read',
  lead: 'The journey of one user: the events that your servers sent, newest first, also those from before the user was created. A batch is listed shortly after its 202.',
  empty:
    'Enter the external id of a user, as your events call it, or the id that the API returned for the user.',
  needs: ['user_external_id', 'user_id'],
  fields: [
    { label: 'Event', of: 'event_name' },
    { label: 'At', of: 'event_datetime', as: 'time' },
    { label: 'User', of: 'user_external_id', to: listOf('events', 'user_external_id', 'user_external_id') },
    { label: 'Device', of: 'device_id' },
    { label: 'Received', of: 'received_at', as: 'time', hidden: true },
    { label: 'Event id', of: 'event_id', as: 'id', hidden: true },
    { label: 'Payload', of: 'payload', as: 'json' },
  ],
  filters: [
    { name: 'user_external_id', label: 'External id of the user' },
    { name: 'user_id', label: 'User id' },
    { name: 'event_name', label: 'Event' },
    { name: 'event_from', label: 'From', type: 'date' },
    { name: 'event_to', label: 'To', type: 'date' },
  ],
};

export const lookups: Resource = {
  name: 'lookups',
  title: 'Lookups',
  one: 'Lookup',
  scope: ANYONE,
  lead: 'Each time an operator of the service read your data or changed it, and the reason of each change.',
  empty: 'No operator has read or changed your data.',
  fields: [
    { label: 'At', of: 'at', as: 'time' },
    { label: 'Operator', of: 'operator_name' },
    { label: 'What', of: ({ kind }) => (kind === 'write' ? 'changed' : 'read') },
    { label: 'Subject', of: 'subject' },
    { label: 'Reason', of: 'reason' },
  ],
};
