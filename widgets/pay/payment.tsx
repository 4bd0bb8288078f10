import { useState } from 'preact/hooks';
import { rich } from '../format.js';
import { Refusal, type Action, type Offer, type PayOrder } from './api.js';
import { amountText, isPositive, minorUnits } from './decimal-text.js';
import { usePage } from './page.js';
import { Alert, Copyable, Countdown, Heading, Progress, QrCode, Transfers, useTimeLeft } from './parts.js';
import { chainName } from './messages.js';

interface Props {
  readonly offer: Offer;
  readonly seen: PayOrder;
  readonly now: () => number;
  readonly act: (action: Action) => Promise<void>;
}

/** The instructions for a deposit while it may still count: pending, partly paid, or marked as paid. */
export function Payment({ offer, seen, now, act }: Props) {
  const { facts, format } = usePage();
  const { order } = seen;
  const partly = isPositive(order.amount_received);
  // Once a part has arrived, the rest has to be sent.
  const said = order.status === 'paid' && !partly;
  // The service checks the chain again before the order expires.
  const isOver = useTimeLeft(order.expires_at, now) === 0 && !said;
  const { symbol } = offer;
  const chain = chainName(format, facts, offer.chain);
  const [amount, missing, toAmount] = [order.amount_received, seen.missing, order.amount_to].map((each) =>
    amountText(each, facts.locale),
  ) as [string, string, string];
  const until = <Countdown until={order.expires_at} now={now} />;
  const sendLead = format(facts.sandbox ? 'payLeadSandbox' : 'payLead', {
    chain,
    toAmount,
    toSymbol: facts.to.symbol,
  });
  if (isOver)
    return (
      <section>
        <Progress at={2} />
        <Heading key="over">{format('expiredHeading')}</Heading>
        <p class="lead" role="status">
          {format('endedText')}
        </p>
        <Transfers offer={offer} seen={seen} />
      </section>
    );
  return (
    <section>
      <Progress at={2} />
      <Heading key={said ? 'said' : 'send'} title={format(said ? 'saidHeading' : 'payTitle')}>
        {said ? format('saidHeading') : format('payHeading', { amount: missing, symbol })}
      </Heading>
      <p class="lead">{said ? format('saidLead', { chain }) : sendLead}</p>
      {partly && (
        <Alert kind="warn">
          <strong>{format('payPartly', { amount, missing, symbol })}</strong>{' '}
          {rich(format('payPartlyText'), { time: until })}
        </Alert>
      )}
      {order.deposit_address_tag !== null && !said && (
        <Alert kind="warn">
          <strong>{format(offer.tag === 'memo' ? 'payMemo' : 'payTag')}</strong> {format('payTagText')}
        </Alert>
      )}
      {facts.test_payments && <TestPayment key={seen.missing} missing={missing} symbol={symbol} act={act} />}
      {!said && <Deposit offer={offer} seen={seen} />}
      <p class="status" role="status">
        <span class="dot" aria-hidden="true" />
        {format(partly ? 'payWaitingRest' : said ? 'saidStatus' : 'payWaiting')}
      </p>
      {!partly && !said && <p class="small">{rich(format('payEnds'), { time: until })}</p>}
      <Transfers offer={offer} seen={seen} />
      {said && (
        <details>
          <summary>{format('saidAddress')}</summary>
          <Deposit offer={offer} seen={seen} />
        </details>
      )}
      {order.status === 'pending' && <Actions act={act} partly={partly} />}
    </section>
  );
}

function Deposit({ offer, seen: { order, missing } }: { offer: Offer; seen: PayOrder }) {
  const { facts, format } = usePage();
  const { deposit_address: address, deposit_address_tag: tag } = order;
  const { symbol } = offer;
  const amount = amountText(missing, facts.locale);
  // A payment with a tag has no URI, because wallets support none.
  const uri =
    tag === null && offer.payment_uri !== null
      ? offer.payment_uri
          .replace('{address}', address)
          .replace('{amount}', missing)
          .replace('{units}', minorUnits(missing, offer.decimals))
      : null;
  return (
    <div class="deposit">
      <div>
        <QrCode text={uri ?? address} label={format('payQr', { amount, symbol, address })} />
        {uri !== null && (
          <a class="button quiet wallet" href={uri}>
            {format('payWallet')}
          </a>
        )}
      </div>
      <div class="copyables">
        <Copyable label={format('payAmount')} text={missing} displayed={`${amount} ${symbol}`} />
        <Copyable label={format('payAddress')} text={address} />
        {tag !== null && <Copyable label={format(offer.tag === 'memo' ? 'memo' : 'tag')} text={tag} />}
        <p class="hint">{format('payOnly', { symbol, chain: chainName(format, facts, offer.chain) })}</p>
      </div>
    </div>
  );
}

/** One act at a time, and what was refused of it. */
function useAct(act: Props['act']) {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const run = async (action: Action): Promise<boolean> => {
    if (busy) return false;
    setBusy(true);
    setRefusal(null);
    try {
      await act(action);
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      setRefusal(error);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, refusal, run };
}

/** Only in the sandbox: pays what is missing. */
function TestPayment({ missing, symbol, act }: { missing: string; symbol: string; act: Props['act'] }) {
  const { format } = usePage();
  const { busy, refusal, run } = useAct(act);
  const [paid, setPaid] = useState(false);
  return (
    <div class="sandbox">
      {refusal !== null && <Alert>{format(refusal.messageKey)}</Alert>}
      <p role="status">{format(paid ? 'sandboxPaid' : 'sandboxPayText')}</p>
      {!paid && (
        <button type="button" disabled={busy} onClick={() => void run('test_payment').then(setPaid)}>
          {format('sandboxPay', { amount: missing, symbol })}
        </button>
      )}
    </div>
  );
}

function Actions({ act, partly }: { act: Props['act']; partly: boolean }) {
  const { format } = usePage();
  const { busy, refusal, run } = useAct(act);
  const [isConfirming, setIsConfirming] = useState(false);
  return (
    <div aria-busy={busy}>
      {refusal !== null && <Alert>{format(refusal.messageKey)}</Alert>}
      {isConfirming ? (
        <div class="confirms" role="group" aria-label={format('cancelHeading')}>
          <p>
            <strong>{format('cancelHeading')}</strong> {format(partly ? 'cancelPartly' : 'cancelText')}
          </p>
          <button type="button" ref={(button) => button?.focus()} onClick={() => setIsConfirming(false)}>
            {format('cancelKeep')}
          </button>
          <button type="button" class="quiet" disabled={busy} onClick={() => void run('cancel')}>
            {format('cancelYes')}
          </button>
        </div>
      ) : (
        <>
          {!partly && (
            <button type="button" disabled={busy} onClick={() => void run('mark_as_paid')}>
              {format('paySent')}
            </button>
          )}
          <button type="button" class="quiet" onClick={() => setIsConfirming(true)}>
            {format('payCancel')}
          </button>
        </>
      )}
    </div>
  );
}
