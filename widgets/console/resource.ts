import { textAt, type Field } from '../kit/fields.js';
import type { Filter } from '../kit/list.js';
import { toPage, type Related } from '../kit/resource.js';

export const MERCHANT: Field = {
  label: 'Merchant',
  of: 'merchant_id',
  as: 'code',
  to: toPage('merchants', 'merchant_id'),
};
export const BY_MERCHANT: Filter = { name: 'merchant_id', label: 'Merchant id' };

export const OPERATION_FIELDS: readonly Field[] = [
  { label: 'Operation', of: 'name' },
  { label: 'Status', of: 'status', as: 'status' },
  { label: 'By', of: 'requested_by.name' },
  { label: 'Reason', of: 'reason' },
  { label: 'Ticket', of: 'ticket', hidden: true },
  { label: 'Requested', of: 'requested_at', as: 'time' },
];

/** The changes of a resource with person, time and reason. */
export const HISTORY: Related = {
  title: 'Operations',
  fields: OPERATION_FIELDS,
  empty: 'No operator has changed anything here.',
  from: (row) => ({ path: '/operations', query: { subject_id: textAt(row, 'id') } }),
  open: toPage('operations', 'id'),
  all: (row) => `/operations?subject_id=${encodeURIComponent(textAt(row, 'id'))}`,
  scope: 'operations:read',
};
