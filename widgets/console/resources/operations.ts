import { type Decider } from '../../kit/data.js';
import { textAt, type Field, type Row } from '../../kit/fields.js';
import { REASON_FIELD } from '../../kit/form.js';
import { capital, spoken } from '../../kit/text.js';
import { operationGuidance } from '../guidance.js';
import { actionOn, ID, pageOf, toPage, type Resource } from '../../kit/resource.js';
import { OPERATION_FIELDS } from '../resource.js';

const PLURALS: Readonly<Record<string, string>> = { delivery: 'deliveries' };

/** Returns the name of the list of a kind, such as `payouts` for `payout`. */
function pluralOf(kind: string): string {
  return PLURALS[kind] ?? `${kind}s`;
}

const WITH_PAGES = [
  'merchant',
  'credential',
  'operator',
  'user',
  'payout',
  'order',
  'delivery',
  'operation',
  'request',
];

/** Returns the page of an object by its kind and id; null if the kind has no page. */
export function pageOfKind(kind: string, id: string): string | null {
  if (id === '') return null;
  if (kind === 'webhook_endpoint') return `/deliveries?endpoint_id=${encodeURIComponent(id)}`;
  return WITH_PAGES.includes(kind) ? pageOf(pluralOf(kind), id) : null;
}

/** Returns a check that the person may decide on a row: as its requester (`own`), or as another person. */
const decides =
  (status: string, whose: 'own' | 'of another') =>
  (row: Row, { me, mayDecide }: Decider): boolean =>
    row['status'] === status &&
    (textAt(row, 'requested_by.operator_id') === me) === (whose === 'own') &&
    mayDecide(textAt(row, 'name'));
/** A decision has no ticket (admin-api.md 3). */
const DECISION = { also: [REASON_FIELD] };

const SUBJECT: Field = {
  label: 'Subject',
  of: 'subject.id',
  as: 'code',
  to: (row) => pageOfKind(textAt(row, 'subject.kind'), textAt(row, 'subject.id')),
};
const UNTIL: Field = { label: 'Until', of: 'expires_at', as: 'time' };

export const operations: Resource = {
  name: 'operations',
  title: 'Operations',
  one: 'Operation',
  scope: 'operations:read',
  heading: (row) => capital(spoken(textAt(row, 'name')).replaceAll('.', ': ')),
  primary: ({ status }) => (status === 'pending_approval' ? 'Approve' : null),
  status: 'status',
  lead: 'Every write of an operator: who, what and why.',
  empty: 'No operator has changed anything yet.',
  first: {
    title: 'Waiting for a second person',
    fields: [...OPERATION_FIELDS.slice(0, 1), SUBJECT, ...OPERATION_FIELDS.slice(2), UNTIL],
    empty: 'Nothing waits for an approval.',
    from: () => ({ path: '/operations', query: { status: 'pending_approval' } }),
    open: toPage('operations', 'id'),
    all: () => '/operations?status=pending_approval',
  },
  fields: [
    ...OPERATION_FIELDS.slice(0, 2),
    SUBJECT,
    ...OPERATION_FIELDS.slice(2),
    { ...UNTIL, hidden: true },
    { ...ID, hidden: true },
  ],
  filters: [
    {
      name: 'status',
      label: 'Status',
      options: ['pending_approval', 'unconfirmed', 'executed', 'rejected', 'withdrawn', 'lapsed', 'failed'],
    },
    { name: 'name', label: 'Name' },
    { name: 'operator_id', label: 'Operator id' },
    { name: 'subject_id', label: 'Subject id' },
  ],
  details: [
    ID,
    { ...SUBJECT, as: 'id' },
    { label: 'Kind of subject', of: (row) => textAt(row, 'subject.kind').replaceAll('_', ' ') },
    { label: 'Revision', of: 'subject.revision', none: 'did not exist yet' },
    { label: 'Reason', of: 'reason' },
    { label: 'Ticket', of: 'ticket' },
    { label: 'Requested by', of: 'requested_by.name', to: personOf('requested_by') },
    { label: 'Role then', of: (row) => textAt(row, 'requested_by.role').replaceAll('_', ' ') },
    { label: 'From address', of: 'requested_by.address' },
    { label: 'Requested', of: 'requested_at', as: 'time' },
    { label: 'Second person', of: 'approval' },
    UNTIL,
    { label: 'Decided by', of: 'decided_by.name', to: personOf('decided_by') },
    { label: 'Decided', of: 'decided_at', as: 'time' },
    { label: 'Reason of the decision', of: 'decision_reason' },
    { label: 'Executed', of: 'executed_at', as: 'time' },
    { label: 'Failure', of: 'failure.message' },
    { label: 'Parameters', of: 'parameters', as: 'json' },
  ],
  guidance: operationGuidance,
  actions: [
    {
      ...DECISION,
      label: 'Approve',
      path: actionOn('operations', 'approve'),
      when: decides('pending_approval', 'of another'),
      says: 'It is executed at once if its subject has not changed since the request. You are both responsible for it.',
      done: 'The operation is approved and executed.',
    },
    {
      ...DECISION,
      label: 'Confirm',
      path: actionOn('operations', 'confirm'),
      when: decides('unconfirmed', 'of another'),
      says: 'You confirm that suspending was right. To undo it, reinstate the merchant instead.',
      done: 'The operation is confirmed.',
    },
    {
      ...DECISION,
      label: 'Reject',
      path: actionOn('operations', 'reject'),
      danger: true,
      when: decides('pending_approval', 'of another'),
      says: 'It is never executed. The person who requested it can read your reason.',
      done: 'The operation is rejected.',
    },
    {
      ...DECISION,
      label: 'Withdraw',
      path: actionOn('operations', 'reject'),
      when: decides('pending_approval', 'own'),
      says: 'You take your own request back. It is never executed.',
      done: 'The operation is withdrawn.',
    },
  ],
};

function personOf(member: string) {
  return (row: Row): string | null => pageOfKind('operator', textAt(row, `${member}.operator_id`));
}
