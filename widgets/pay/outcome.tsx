import type { ComponentChildren } from 'preact';
import type { Offer, PayFacts, PayOrder } from './api.js';
import { Alert, Heading, Progress, Transaction } from './parts.js';
import { reasonWords, refundableWords, shortAmount } from './words.js';

interface Props {
  readonly facts: PayFacts;
  readonly offer: Offer;
  readonly seen: PayOrder;
  /** Null where the link is good for no other order. */
  readonly again: (() => void) | null;
}

interface Words {
  readonly mark: 'good' | 'bad' | 'busy';
  readonly heading: string;
  readonly text: ComponentChildren;
}

/** What became of an order once enough has arrived, or none will. */
export function Outcome({ facts, offer, seen, again }: Props) {
  const { order } = seen;
  const { mark, heading, text } = wordsOf(facts, offer, seen);
  const { deposit_transaction_hash: deposit, withdraw_transaction_hash: payout } = order;
  const place = (explorer: string): string | null => (facts.sandbox ? null : explorer);
  return (
    <section class="outcome">
      <Progress at={mark === 'good' ? 3 : 2} />
      <Mark kind={mark} />
      <Heading key={order.status}>{heading}</Heading>
      <p class="lead" role="status">
        {text}
      </p>
      <Returned offer={offer} seen={seen} />
      <dl>
        {Number(order.amount_received) > 0 && (
          <div>
            <dt>Arrived</dt>
            <dd>
              {order.amount_received} {offer.symbol}
            </dd>
          </div>
        )}
        {order.status === 'completed' && (
          <div>
            <dt>Sent on</dt>
            <dd>
              {order.amount_to} {facts.to.symbol}
            </dd>
          </div>
        )}
        <div>
          <dt>Receiver</dt>
          <dd>
            <code>{order.withdraw_address}</code>
          </dd>
        </div>
        {deposit !== null && (
          <div>
            <dt>Your transfer</dt>
            <dd>
              <Transaction hash={deposit} explorer={place(offer.explorer)} />
            </dd>
          </div>
        )}
        {payout !== null && (
          <div>
            <dt>Our transfer</dt>
            <dd>
              <Transaction hash={payout} explorer={place(facts.to.explorer)} />
            </dd>
          </div>
        )}
        <div>
          <dt>Order</dt>
          <dd>
            <code>{order.id}</code>
          </dd>
        </div>
      </dl>
      {seen.is_final && order.status !== 'completed' && again !== null && (
        <button type="button" onClick={again}>
          Start again
        </button>
      )}
    </section>
  );
}

function wordsOf(facts: PayFacts, offer: Offer, { order }: PayOrder): Words {
  const { symbol } = offer;
  switch (order.status) {
    case 'completed':
      return {
        mark: 'good',
        heading: 'Payment completed',
        text: `${shortAmount(order.amount_to)} ${facts.to.symbol} were sent on. You can close this page.`,
      };
    case 'processing':
      return {
        mark: 'busy',
        heading: 'Your payment arrived',
        text: `We exchange ${shortAmount(order.amount_from)} ${symbol} for ${shortAmount(order.amount_to)} ${facts.to.symbol}. This page goes on by itself; you may also close it.`,
      };
    case 'expired':
      return {
        mark: 'bad',
        heading: 'This offer has ended',
        text: 'No payment arrived in time. Send nothing to its address any more. If you did send something, keep the number of the order: what arrives late is recorded, and has to be sent back.',
      };
    case 'cancelled':
      return {
        mark: 'bad',
        heading: 'You cancelled this payment',
        text: 'Send nothing to its address any more.',
      };
    case 'refunded':
      return {
        mark: 'bad',
        heading: 'Your payment was sent back',
        text: 'It could not be exchanged, and goes back to where it came from.',
      };
    default:
      return { mark: 'bad', heading: 'This payment has failed', text: reasonWords(order.reason) };
  }
}

/** What came and is not exchanged. */
function Returned({ offer, seen: { order } }: { offer: Offer; seen: PayOrder }) {
  const words = refundableWords(order, offer.symbol);
  if (words === null) return null;
  return (
    <Alert kind="warn">
      <p>{words}</p>
      <p>Ask where you got this link, and name the number of the order.</p>
    </Alert>
  );
}

function Mark({ kind }: { kind: Words['mark'] }) {
  if (kind === 'busy') return <span class="spinner" aria-hidden="true" />;
  return (
    <div class={`mark ${kind}`}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d={kind === 'good' ? 'M5 12.5l4.5 4.5L19 7.5' : 'M12 6.5v7M12 17.2v.1'} />
      </svg>
    </div>
  );
}
