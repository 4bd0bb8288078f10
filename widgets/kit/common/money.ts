import { ORDER_STATUSES } from '../../../src/contexts/exchange/orders/order-events.js';
import type { Field } from '../fields.js';
import type { Filter } from '../list.js';
import { actionOn, ID, type Further, type Related } from '../resource.js';

export const HASH: Field = { label: 'Transaction', of: 'transaction_hash', as: 'code' };

/** The evidence of a payout that was received. */
export const EVIDENCE: Further = {
  title: 'Evidence',
  path: actionOn('payouts', 'evidence'),
  when: ({ status }) => status === 'received',
  none: 'There is no evidence of this payout.',
  file: 'evidence',
  fields: [
    { label: 'Chain', of: 'chain_id' },
    { label: 'Block', of: 'block_number', as: 'number' },
    { label: 'Block hash', of: 'block_hash', as: 'id' },
    { label: 'Block time', of: 'block_time', as: 'time' },
    { label: 'Log index', of: 'log_index' },
    { label: 'Confirmations', of: 'confirmations', as: 'number' },
    { label: 'From', of: 'from', as: 'id' },
    { label: 'To', of: 'to', as: 'id' },
    { label: 'Token', of: 'token', as: 'id' },
    { label: 'SHA-256 of the receipt', of: 'receipt.sha256', as: 'id' },
  ],
};

/** The proof of a payout. */
export const PROOF: Further = {
  title: 'Proof in the ledger',
  path: actionOn('payouts', 'proof'),
  none: 'The ledger has no signed head that covers this payout yet. Retry in a minute.',
  file: 'proof',
  fields: [
    { label: 'Events proven', of: (row) => (Array.isArray(row['events']) ? row['events'].length : 0) },
    { label: 'Root', of: 'head.root', as: 'id' },
    { label: 'Size of the ledger', of: 'head.size', as: 'number' },
    { label: 'Signed', of: 'head.signed_at', as: 'time' },
    { label: 'Signing key', of: 'head.key_id', as: 'id' },
  ],
};

/** The columns of orders before the column of the owner. */
export const ORDER_FIELDS: readonly Field[] = [
  ID,
  { label: 'Pair', of: 'pair_id' },
  { label: 'Status', of: 'status', as: 'status' },
  { label: 'Amount', of: 'amount_from', as: 'money' },
  { label: 'Received', of: 'amount_received', as: 'money' },
  { label: 'Refundable', of: 'amount_refundable', as: 'money' },
];

/** The list of orders. */
export const ORDERS = {
  name: 'orders',
  title: 'Orders',
  one: 'Order',
  scope: 'orders:read',
  status: 'status',
  empty: 'Orders are created through the exchange API and the pay page.',
} as const;

export const ORDER_STATUS_FILTER: Filter = { name: 'status', label: 'Status', options: ORDER_STATUSES };

/** The details of an order after its owner. */
export const ORDER_DETAILS: readonly Field[] = [
  { label: 'Reason', of: 'reason' },
  { label: 'Amount to send', of: 'amount_from', as: 'money' },
  { label: 'Received', of: 'amount_received', as: 'money' },
  { label: 'Refundable', of: 'amount_refundable', as: 'money' },
  { label: 'Amount to pay out', of: 'amount_to', as: 'money' },
  { label: 'Rate', of: 'rate' },
  { label: 'Deposit address', of: 'deposit_address', as: 'id' },
  { label: 'Deposit tag', of: 'deposit_address_tag', as: 'id' },
  { label: 'Withdraw address', of: 'withdraw_address', as: 'id' },
  { label: 'Withdraw tag', of: 'withdraw_address_tag', as: 'id' },
  { label: 'Withdraw memo', of: 'withdraw_address_memo', as: 'id' },
  { label: 'Withdraw transaction', of: 'withdraw_transaction_hash', as: 'id' },
];

const DEPOSIT: readonly Field[] = [
  { ...HASH, as: 'id' },
  { label: 'Amount', of: 'amount', as: 'money' },
  { label: 'Deposited', of: 'deposited_at', as: 'time' },
];

/** The related lists of an order. */
export const ORDER_PARTS: readonly Related[] = [
  { title: 'Deposits', fields: DEPOSIT, rows: 'deposits', empty: 'No deposit has arrived.' },
  {
    title: 'Late deposits',
    fields: DEPOSIT,
    rows: 'late_deposits',
    empty: 'None: nothing arrived after the end of the order.',
  },
  {
    title: 'Refunds',
    fields: [
      { ...HASH, as: 'id' },
      { label: 'Amount', of: 'amount', as: 'money' },
      { label: 'Recorded', of: 'recorded_at', as: 'time' },
    ],
    rows: 'refunds',
    empty: 'No refund is recorded.',
  },
];
