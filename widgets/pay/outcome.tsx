import type { Messages } from '../../src/contexts/exchange/pay/pay.dto.js';
import { Mark } from '../parts.js';
import type { Offer, PayOrder } from './api.js';
import { amountText, isPositive } from './decimal-text.js';
import { usePage } from './page.js';
import { Alert, Heading, Progress, Transfers } from './parts.js';
import { reasonMessage } from './messages.js';

interface Props {
  readonly offer: Offer;
  readonly seen: PayOrder;
  /** Starts again; null where the link allows no other order. */
  readonly again: (() => void) | null;
}

interface OutcomeMessages {
  readonly mark: 'good' | 'bad' | 'busy';
  readonly heading: keyof Messages;
  readonly text: keyof Messages;
}

/** The outcome of an order after its last deposit, or without one. */
export function Outcome({ offer, seen, again }: Props) {
  const { facts, format } = usePage();
  const { order } = seen;
  const { mark, heading, text } = outcomeOf(seen);
  const exact = (amount: string): string => amountText(amount, facts.locale);
  const toAmount = exact(order.amount_to);
  const { symbol } = offer;
  const words =
    order.status === 'completed'
      ? format(text, { amount: toAmount, symbol: facts.to.symbol })
      : format(text, { amount: exact(order.amount_from), symbol, toAmount, toSymbol: facts.to.symbol });
  return (
    <section class="outcome">
      <Progress at={mark === 'good' ? 3 : 2} />
      {mark === 'busy' ? <span class="spinner" aria-hidden="true" /> : <Mark kind={mark} />}
      <Heading key={heading}>{format(heading)}</Heading>
      <p class="lead" role="status">
        {words}
      </p>
      {isPositive(order.amount_refundable) && (
        <Alert kind="warn">
          <p>{format('refundable', { amount: exact(order.amount_refundable), symbol })}</p>
          <p>{format('refundableHelp', { merchant: facts.merchant.name })}</p>
        </Alert>
      )}
      <dl>
        {isPositive(order.amount_received) && (
          <div>
            <dt>{format('arrived')}</dt>
            <dd>
              {exact(order.amount_received)} {symbol}
            </dd>
          </div>
        )}
        {order.status === 'completed' && (
          <div>
            <dt>{format('sentOn')}</dt>
            <dd>
              {toAmount} {facts.to.symbol}
            </dd>
          </div>
        )}
        <div>
          <dt>{format('receiver')}</dt>
          <dd>
            <code>{order.withdraw_address}</code>
          </dd>
        </div>
      </dl>
      <Transfers offer={offer} seen={seen} />
      {order.status === 'completed' && facts.return_url !== null && (
        <a class="button" href={facts.return_url} target="_top" rel="noreferrer">
          {format('back', { merchant: facts.merchant.name })}
        </a>
      )}
      {seen.is_final && order.status !== 'completed' && again !== null && (
        <button type="button" onClick={again}>
          {format('startAgain')}
        </button>
      )}
    </section>
  );
}

function outcomeOf({ order, transfers }: PayOrder): OutcomeMessages {
  const isLate = transfers.length > 0 || isPositive(order.amount_refundable);
  if (isLate && (order.status === 'expired' || order.reason === 'no_deposit'))
    return { mark: 'bad', heading: 'lateHeading', text: 'lateText' };
  switch (order.status) {
    case 'completed':
      return { mark: 'good', heading: 'completedHeading', text: 'completedText' };
    case 'processing':
      return { mark: 'busy', heading: 'processingHeading', text: 'processingText' };
    case 'expired':
      return { mark: 'bad', heading: 'expiredHeading', text: 'expiredText' };
    case 'cancelled':
      return { mark: 'bad', heading: 'cancelledHeading', text: 'cancelledText' };
    case 'refunded':
      return { mark: 'bad', heading: 'refundedHeading', text: 'refundedText' };
    default:
      return { mark: 'bad', heading: 'failedHeading', text: reasonMessage(order.reason) };
  }
}
