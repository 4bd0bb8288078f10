import {
  EVIDENCE,
  HASH,
  ORDER_DETAILS,
  ORDER_FIELDS,
  ORDER_PARTS,
  ORDER_STATUS_FILTER,
  ORDERS,
  PROOF,
} from '../../kit/common/money.js';
import { textAt, type Field } from '../../kit/fields.js';
import { findingWords, orderGuidance, payoutGuidance } from '../guidance.js';
import { actionOn, CREATED, ID, toPage, type Resource } from '../../kit/resource.js';
import { BY_MERCHANT, HISTORY, MERCHANT } from '../resource.js';

const USER: Field = { label: 'User', of: 'user_id', as: 'code', to: toPage('users', 'user_id') };

export const payouts: Resource = {
  name: 'payouts',
  title: 'Payouts',
  one: 'Payout',
  scope: 'payouts:read',
  status: 'status',
  empty: 'Merchants report payouts through their API.',
  fields: [
    ID,
    { label: 'Amount', of: 'amount', as: 'money', unit: '$currency_code' },
    { label: 'Status', of: 'status', as: 'status' },
    { label: 'Last check', of: (row) => textAt(row, 'check.last_finding').replaceAll('_', ' ') },
    { label: 'Next check', of: 'check.next_at', as: 'time' },
    MERCHANT,
    { ...USER, hidden: true },
    { ...HASH, hidden: true },
    CREATED,
  ],
  filters: [
    { name: 'status', label: 'Status', options: ['pending', 'received', 'expired'] },
    { name: 'overdue', label: 'Overdue', options: ['true'] },
    BY_MERCHANT,
    { name: 'user_id', label: 'User id' },
    { name: 'transaction_hash', label: 'Transaction' },
    { name: 'created_from', label: 'Created from', type: 'date' },
    { name: 'created_to', label: 'Created to', type: 'date' },
  ],
  details: [
    ID,
    { label: 'Amount', of: 'amount', as: 'money', unit: '$currency_code' },
    MERCHANT,
    USER,
    { label: 'Transaction', of: 'transaction_hash', as: 'id' },
    CREATED,
    { label: 'Reason', of: 'reason' },
    { label: 'Last check', of: 'check.last_at', as: 'time', none: 'never' },
    { label: 'It found', of: (row) => findingWords(textAt(row, 'check.last_finding')) },
    { label: 'Next check', of: 'check.next_at', as: 'time', none: 'none is due' },
    { label: 'Checks so far', of: 'check.attempts', as: 'number' },
    { label: 'Metadata', of: 'custom_metadata', as: 'json' },
  ],
  guidance: payoutGuidance,
  related: [
    {
      title: 'Checks of the chain',
      fields: [
        { label: 'At', of: 'at', as: 'time' },
        { label: 'Found', of: (row) => findingWords(textAt(row, 'finding')) },
        { label: 'Node', of: 'node' },
        { label: 'Head', of: 'head', as: 'number' },
        { label: 'Confirmations', of: 'confirmations', as: 'number' },
      ],
      empty: 'The chain has not been checked for this payout yet.',
      from: (row) => ({ path: actionOn('payouts', 'checks')(row), query: { page_size: '' } }),
    },
  ],
  further: [EVIDENCE, PROOF],
};

export const orders: Resource = {
  ...ORDERS,
  fields: [...ORDER_FIELDS, MERCHANT, { label: 'User', of: 'user_id', hidden: true }, CREATED],
  filters: [
    ORDER_STATUS_FILTER,
    { name: 'refundable', label: 'Refundable', options: ['true'] },
    BY_MERCHANT,
    { name: 'credential_id', label: 'Credential id' },
    { name: 'user_id', label: 'User id' },
  ],
  details: [
    ID,
    { label: 'Pair', of: 'pair_id' },
    MERCHANT,
    { label: 'User', of: 'user_id', as: 'id' },
    ...ORDER_DETAILS,
    CREATED,
    { label: 'Expires', of: 'expires_at', as: 'time' },
  ],
  guidance: orderGuidance,
  actions: [
    {
      label: 'Record refund',
      path: actionOn('orders', 'refunds'),
      scope: 'orders:write',
      revision: true,
      when: (row) => Number(textAt(row, 'amount_refundable')) > 0,
      says: 'Records a refund that has been sent on the chain; it sends nothing. A second person must approve it.',
      fields: [
        { name: 'amount', label: 'Amount', required: true, initial: 'amount_refundable' },
        { name: 'transaction_hash', label: 'Transaction of the refund', required: true },
      ],
      done: 'The refund is recorded.',
    },
  ],
  related: [...ORDER_PARTS, HISTORY],
};
