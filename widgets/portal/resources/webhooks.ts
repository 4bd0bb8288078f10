import {
  ATTEMPTS,
  canResend,
  DELIVERY_FIELDS,
  DELIVERY_MORE,
  deliveryDetails,
  deliveryFilters,
  deliveryGuidance,
  ENDPOINT_FIELDS,
  endpointStatus,
  isFailing,
  isForDisabled,
  isUnfinished,
  joinEndpoint,
} from '../../kit/common/webhooks.js';
import { OFTEN_MS } from '../../kit/data.js';
import { textAt, type Field, type Row } from '../../kit/fields.js';
import { rolling } from '../../kit/form.js';
import {
  actionOn,
  CREATED,
  ID,
  listOf,
  pageOf,
  toPage,
  type Guidance,
  type Resource,
} from '../../kit/resource.js';
import type { Action } from '../../kit/write.js';

/** The query of a list without pages, which has no parameters. */
export const WHOLE = { page_size: '' };

const MORE: readonly Field[] = [
  { label: 'Description', of: 'description' },
  { label: 'Event types', of: 'event_types', as: 'list', none: 'all but those of orders' },
];
const isEnabled = ({ status }: Row): boolean => status === 'enabled';

/** The action that enables an endpoint. `of` is the member of a row with the id of the endpoint. */
const enabling = (label: string, of: string, when: (row: Row) => boolean): Action => ({
  label,
  method: 'PATCH',
  path: (row) => pageOf('endpoints', textAt(row, of)),
  scope: 'endpoints:write',
  implied: () => ({ webhook_endpoint: { status: 'enabled' } }),
  when,
  says: 'What happens from now on is delivered again, and what waits keeps its schedule. What was dropped is sent by “Resend” or “Recover”.',
  done: 'The endpoint is enabled.',
});

const deliveriesOf = listOf('deliveries', 'endpoint_id');

export const endpoints: Resource = {
  name: 'endpoints',
  title: 'Endpoints',
  one: 'Endpoint',
  scope: 'endpoints:read',
  heading: 'url',
  status: endpointStatus,
  lead: 'Register and change endpoints through the API. A disabled endpoint misses what happens until it is enabled again; recover it afterwards.',
  empty: 'Register an endpoint through the API: POST /merchants/v1/webhook_endpoints.',
  query: WHOLE,
  every: OFTEN_MS,
  fields: [...ENDPOINT_FIELDS, ...MORE.map((field) => ({ ...field, hidden: true })), { ...ID, hidden: true }],
  filters: [
    {
      name: 'trouble',
      label: 'Trouble',
      options: ['failing'],
      local: isFailing,
    },
  ],
  details: [
    ID,
    ...ENDPOINT_FIELDS.filter(({ label }) => label !== 'URL' && label !== 'Status'),
    ...MORE,
    CREATED,
    { label: 'Changed', of: 'updated_at', as: 'time' },
  ],
  guidance: endpointGuidance,
  primary: (row) => (isEnabled(row) ? 'Send test' : 'Enable'),
  actions: [
    enabling('Enable', 'id', (row) => !isEnabled(row)),
    {
      label: 'Send test',
      path: actionOn('endpoints', 'test'),
      scope: 'endpoints:write',
      says: 'Sends a webhook_endpoint.test event, signed like any other. It reaches a disabled endpoint too.',
      done: 'The test is sent.',
      then: (body) => toPage('deliveries', 'webhook_delivery.id')(body),
    },
    {
      label: 'Recover',
      path: actionOn('endpoints', 'recover'),
      scope: 'endpoints:write',
      when: isEnabled,
      says: 'Sends again, oldest first, what was created since a time and is exhausted or dropped. Test deliveries are left out.',
      fields: [
        {
          name: 'since',
          label: 'Since',
          kind: 'time',
          required: true,
          hint: 'In UTC: when your receiver began to fail.',
        },
      ],
      done: 'The recovery has begun.',
    },
    {
      label: 'Rotate secret',
      path: actionOn('endpoints', 'rotate_secret'),
      scope: 'endpoints:write',
      danger: true,
      says: 'Creates a new signing secret, displayed once in the next step. During an overlap deliveries carry a signature of both secrets.',
      ...rolling(24),
      done: 'The secret is rotated.',
    },
  ],
  related: [
    {
      title: 'Newest deliveries',
      fields: [...DELIVERY_FIELDS, CREATED],
      empty: 'Nothing has been delivered to it yet.',
      from: (row) => ({ path: '/deliveries', query: { endpoint_id: textAt(row, 'id') } }),
      open: toPage('deliveries', 'id'),
      all: (row) => deliveriesOf(row) ?? '/deliveries',
      scope: 'deliveries:read',
    },
  ],
};

function endpointGuidance(row: Row): Guidance | null {
  if (!isEnabled(row))
    return {
      tone: row['disabled_cause'] === 'merchant' ? 'warn' : 'bad',
      title: 'Disabled: what happens now is not delivered',
      text: 'Repair the receiver and check it with “Send test”. Then “Enable” the endpoint and “Recover” what it missed since the time below: it is not displayed once the endpoint is enabled.',
    };
  if (!isFailing(row)) return null;
  return {
    tone: 'warn',
    title: 'Attempts fail',
    text: 'Open one of the deliveries below: it has the response of your receiver. Sustained failures disable the endpoint.',
  };
}

const REMEDY = {
  disabled:
    'Nothing is sent to it until it is enabled. After that “Resend” sends this delivery; recover the endpoint for all that it missed.',
  pending:
    'It is retried for about three days. Respond with 2xx within 30 seconds; anything else counts as a failure.',
  exhausted: 'Repair the receiver, then “Resend”. For many at once recover the endpoint from a time on.',
};

export const deliveries: Resource = {
  name: 'deliveries',
  title: 'Deliveries',
  one: 'Delivery',
  scope: 'deliveries:read',
  status: 'status',
  empty: 'Events are delivered to your endpoints from the time they are registered.',
  every: OFTEN_MS,
  fields: [...DELIVERY_FIELDS, ...DELIVERY_MORE],
  filters: deliveryFilters(),
  details: deliveryDetails({
    label: 'Endpoint',
    of: 'webhook_endpoint_id',
    as: 'id',
    to: toPage('endpoints', 'webhook_endpoint_id'),
    toScope: 'endpoints:read',
  }),
  polls: isUnfinished,
  joins: joinEndpoint('endpoints:read', () => ({ path: '/endpoints', query: WHOLE })),
  guidance: (row) => deliveryGuidance(row, 'your', REMEDY),
  primary: (row) => (canResend(row) ? 'Resend' : 'Enable endpoint'),
  actions: [
    enabling('Enable endpoint', 'webhook_endpoint_id', isForDisabled),
    {
      label: 'Resend',
      when: canResend,
      path: actionOn('deliveries', 'resend'),
      scope: 'deliveries:write',
      says: 'Sends the same payload under the same webhook-id at once; attempts are scheduled from the start. Receivers that have processed it ignore it.',
      done: 'The delivery is sent again.',
    },
  ],
  related: [ATTEMPTS],
};
