import { isHash } from '../../../src/contexts/payouts/payouts/payout-events.js';
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
import { OFTEN_MS } from '../../kit/data.js';
import { textAt, type Field, type Row } from '../../kit/fields.js';
import { CREATED, ID, listOf, type Guidance, type Resource } from '../../kit/resource.js';

const AMOUNT: Field = { label: 'Amount', of: 'amount', as: 'money', unit: '$currency_code' };
const USER: Field = { label: 'User', of: 'user_id', as: 'code' };

export const payouts: Resource = {
  name: 'payouts',
  title: 'Payouts',
  one: 'Payout',
  scope: 'payouts:read',
  status: 'status',
  empty: 'Payouts that your backend reports are listed here.',
  every: OFTEN_MS,
  fields: [
    ID,
    AMOUNT,
    { label: 'Status', of: 'status', as: 'status' },
    { ...USER, to: listOf('payouts', 'user_id', 'user_id') },
    HASH,
    { label: 'Reason', of: 'reason', hidden: true },
    CREATED,
  ],
  filters: [
    { name: 'status', label: 'Status', options: ['pending', 'received', 'expired'] },
    { name: 'user_id', label: 'User id' },
    { name: 'created_from', label: 'Created from', type: 'date' },
    { name: 'created_to', label: 'Created to', type: 'date' },
  ],
  details: [
    ID,
    AMOUNT,
    USER,
    { label: 'Transaction', of: 'transaction_hash', as: 'id' },
    CREATED,
    { label: 'Reason', of: 'reason' },
    { label: 'Metadata', of: 'custom_metadata', as: 'json' },
  ],
  polls: ({ status }) => status === 'pending',
  guidance: payoutGuidance,
  links: [
    {
      label: 'Payouts to this user',
      href: (row) => listOf('payouts', 'user_id', 'user_id')(row) ?? '/payouts',
      scope: 'payouts:read',
    },
    {
      label: 'Journey of this user',
      href: (row) => listOf('events', 'user_id', 'user_id')(row) ?? '/events',
      scope: 'events:read',
    },
  ],
  further: [EVIDENCE, PROOF],
};

function payoutGuidance(row: Row): Guidance | null {
  const { status } = row;
  if (status === 'pending' && !isHash(textAt(row, 'transaction_hash')))
    return {
      tone: 'warn',
      title: 'What was reported is not a transaction hash',
      text: 'A hash has 64 hexadecimal digits, after 0x or without it. Report the payout again with the hash of the transaction; this one expires at the end of its window.',
    };
  if (status === 'pending')
    return {
      tone: 'busy',
      title: 'Waits for the transfer to be confirmed',
      text: 'The chain is checked continually. payout.received or payout.failed is sent with the outcome.',
    };
  if (status !== 'expired') return null;
  return {
    tone: 'warn',
    title: 'Expired: the transfer was not confirmed in time',
    text: 'Compare the transaction with the reason below. If the money was sent, report the payout again with the right transaction; an expired payout does not change any more.',
  };
}

export const orders: Resource = {
  ...ORDERS,
  every: OFTEN_MS,
  fields: [...ORDER_FIELDS, { label: 'User', of: 'user_id' }, CREATED],
  filters: [
    ORDER_STATUS_FILTER,
    { name: 'refundable', label: 'Refundable', options: ['true'] },
    { name: 'user_id', label: 'User id' },
  ],
  details: [
    ID,
    { label: 'Pair', of: 'pair_id' },
    { label: 'User', of: 'user_id', as: 'id' },
    ...ORDER_DETAILS,
    CREATED,
    { label: 'Expires', of: 'expires_at', as: 'time' },
  ],
  guidance: orderGuidance,
  related: ORDER_PARTS,
};

function orderGuidance(row: Row): Guidance | null {
  const refundable = textAt(row, 'amount_refundable');
  if (Number(refundable) > 0)
    return {
      tone: 'warn',
      title: `${refundable} will be refunded`,
      text: 'The service sends it back to the sender of the deposit; the transaction is listed below once it is recorded.',
    };
  if (row['status'] !== 'failed') return null;
  return {
    tone: 'bad',
    title: 'Failed',
    text: 'Nothing is to be refunded. If your customer says that they paid, send the id of the order and the transaction to your account manager.',
  };
}
