import { useState } from 'preact/hooks';
import type { Offer, PayFacts, PayOrder } from './api.js';
import { Alert, Copyable, Countdown, Heading, Progress, QrCode } from './parts.js';
import { shortAmount } from './words.js';

interface Props {
  readonly facts: PayFacts;
  readonly offer: Offer;
  readonly seen: PayOrder;
  readonly now: () => number;
  readonly act: (action: 'mark_as_paid' | 'cancel') => Promise<void>;
}

/** Where to send what, as long as a deposit is waited for: pending, partly paid, or said to be paid. */
export function Payment({ facts, offer, seen, now, act }: Props) {
  const { order, missing } = seen;
  const partly = Number(order.amount_received) > 0;
  // Once a part has come, what was said is not all.
  const said = order.status === 'paid' && !partly;
  const symbol = offer.symbol;
  return (
    <section>
      <Progress at={2} />
      <Heading key={said ? 'said' : 'send'}>
        {said ? 'We are looking for your payment' : `Send ${missing} ${symbol}`}
      </Heading>
      <p class="lead">
        {said
          ? `It can take some minutes until the ${offer.chain} network confirms it. This page goes on by itself; you may also close it.`
          : `Send it on the ${offer.chain} network, from any wallet or exchange. ${shortAmount(order.amount_to)} ${facts.to.symbol} will be sent on.`}
      </p>
      {partly && (
        <Alert kind="warn">
          <strong>
            {shortAmount(order.amount_received)} {symbol} arrived, {missing} {symbol} are missing.
          </strong>{' '}
          Send the rest to the same address within <Countdown until={order.expires_at} now={now} />. Otherwise
          nothing is exchanged, and what arrived has to be sent back.
        </Alert>
      )}
      {order.deposit_address_tag !== null && !said && (
        <Alert kind="warn">
          <strong>Do not leave out the {offer.tag ?? 'tag'}.</strong> Without it your payment cannot be told
          from those of others, and may be lost.
        </Alert>
      )}
      {!said && <Deposit offer={offer} seen={seen} />}
      <p class="status" role="status">
        <span class="dot" aria-hidden="true" />
        {partly ? 'Waiting for the rest' : said ? 'Waiting for the network' : 'Waiting for your payment'}
      </p>
      {!partly && !said && (
        <p class="small">
          This offer ends in <Countdown until={order.expires_at} now={now} />.
        </p>
      )}
      {said && (
        <details>
          <summary>Show the address again</summary>
          <Deposit offer={offer} seen={seen} />
        </details>
      )}
      {order.status === 'pending' && <Actions act={act} partly={partly} />}
    </section>
  );
}

function Deposit({ offer, seen: { order, missing } }: { offer: Offer; seen: PayOrder }) {
  const { deposit_address: address, deposit_address_tag: tag } = order;
  const called = offer.tag === 'memo' ? 'Memo' : 'Tag';
  return (
    <div class="deposit">
      <QrCode text={address} label={`QR code of the address ${address}`} />
      <div class="copyables">
        <Copyable label="Amount" text={missing} shown={`${missing} ${offer.symbol}`} />
        <Copyable label="Address" text={address} />
        {tag !== null && <Copyable label={called} text={tag} />}
        <p class="hint">
          Only {offer.symbol} on {offer.chain}: anything else that is sent there may be lost.
        </p>
      </div>
    </div>
  );
}

function Actions({ act, partly }: { act: Props['act']; partly: boolean }) {
  const [busy, setBusy] = useState(false);
  const [asks, setAsks] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const run = async (action: 'mark_as_paid' | 'cancel'): Promise<void> => {
    if (busy) return;
    setBusy(true);
    setTrouble(null);
    await act(action).catch((error: Error) => setTrouble(error.message));
    setBusy(false);
  };
  return (
    <div aria-busy={busy}>
      {trouble !== null && <Alert>{trouble}</Alert>}
      {asks ? (
        <div class="asks" role="group" aria-label="Cancel the payment?">
          <p>
            <strong>Cancel this payment?</strong>{' '}
            {partly
              ? 'What arrived has to be sent back to you.'
              : 'Do not cancel when you have sent it already.'}
          </p>
          <button type="button" disabled={busy} onClick={() => void run('cancel')}>
            Yes, cancel it
          </button>
          <button
            type="button"
            class="quiet"
            ref={(button) => button?.focus()}
            onClick={() => setAsks(false)}
          >
            No, go on
          </button>
        </div>
      ) : (
        <>
          {!partly && (
            <button type="button" disabled={busy} onClick={() => void run('mark_as_paid')}>
              I have sent it
            </button>
          )}
          <button type="button" class="quiet" onClick={() => setAsks(true)}>
            Cancel
          </button>
        </>
      )}
    </div>
  );
}
