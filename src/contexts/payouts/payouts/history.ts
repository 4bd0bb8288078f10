import type { DomainEvent } from '../../../kernel/aggregate.js';
import { Fault } from '../../../kernel/fault.js';
import { historyRules, onlyOnce } from '../../../kernel/history-rules.js';
import { PAYOUT_INTENDED, type PayoutIntent } from './payout-events.js';
import { expire, payout, readPayoutAmount, receive, report, type PayoutState } from './payout.js';

/** The rules of one payout, for audits. Rules across streams cover its user, transfer and evidence. */
export const payoutHistory = historyRules(
  payout,
  {
    'payout.reported.v1': (data, state) => {
      if (state.status !== 'unreported') return `it is reported once, and ${state.status} already`;
      if (readPayoutAmount(data.amount) instanceof Fault) return `its amount ${data.amount} is out of bounds`;
      return report(data, { accountState: 'active', merchantId: data.merchant_id }, state);
    },
    'payout.received.v2': (data, state) => {
      if (state.status !== 'pending') return wrongOrder(state);
      const { expires_at: _, ...facts } = state.reported;
      const evidence = { ...data, ...facts };
      return receive({ evidence, at: data.received_at }, state);
    },
    'payout.expired.v1': ({ reason, expired_at: at, early }, state) => {
      if (state.status !== 'pending') return wrongOrder(state);
      const expired = expire({ reason, at, early }, state);
      return expired.length === 0
        ? `it expires before its window has passed, on ${state.reported.expires_at}`
        : expired;
    },
  },
  {
    id: 'payout_id',
    remember: (state) =>
      state.status === 'received' || state.status === 'expired' ? ENDED[state.status] : state,
  },
);

/** The states that an audit keeps of ended payouts. Later events depend only on the status. */
const ENDED = {
  received: { status: 'received' },
  expired: { status: 'expired' },
} as unknown as Readonly<Record<'received' | 'expired', PayoutState>>;

function wrongOrder({ status }: PayoutState): string {
  return status === 'unreported' ? 'it is reported before it ends' : `it ends once, and is ${status} already`;
}

/** The rules of a payout's announcement: one event, only on a store without atomic commits (ADR 103). */
export const intentHistory = onlyOnce<DomainEvent<typeof PAYOUT_INTENDED, PayoutIntent>>(
  'payout_intent',
  PAYOUT_INTENDED,
).rules;
