import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Api, Offer, PayFacts, PayQuote } from './api.js';
import { Alert, Countdown, Heading, Progress, useTimeLeft } from './parts.js';
import { readAmount, shortAmount } from './words.js';

type Side = 'from' | 'to';
/** Typing is over after so long. */
const TYPED_MS = 450;

interface Props {
  readonly api: Api;
  readonly facts: PayFacts;
  readonly offer: Offer;
  /** What was asked before a reload. */
  readonly amount: string | undefined;
  readonly keep: (amount: string) => void;
  readonly confirm: (amount: string) => Promise<void>;
  readonly back: () => void;
}

/** How much, both ways, and what it costs; each edit asks for a quote, and so does the end of one. */
export function Amounts({ api, facts, offer, amount, keep, confirm, back }: Props) {
  const [texts, setTexts] = useState<Record<Side, string>>({ from: amount ?? '', to: '' });
  const [quote, setQuote] = useState<PayQuote | null>(null);
  const [wrong, setWrong] = useState<{ side: Side; text: string } | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const asked = useRef(0);
  const typing = useRef<ReturnType<typeof setTimeout>>(undefined);

  const ask = useCallback(
    async (side: Side, wanted: string | undefined): Promise<PayQuote | null> => {
      const mine = ++asked.current;
      try {
        const answer = await api.quote({
          pair_id: offer.pair_id,
          ...(wanted !== undefined && { [`amount_${side}`]: wanted }),
        });
        if (mine !== asked.current) return null;
        setQuote(answer);
        setTrouble(null);
        setWrong(null);
        // What is being typed stays as it is.
        setTexts((texts) => ({
          from: side === 'from' && wanted !== undefined ? texts.from : answer.amount_from,
          to: side === 'to' ? texts.to : answer.amount_to,
        }));
        keep(answer.amount_from);
        return answer;
      } catch (error) {
        if (mine !== asked.current) return null;
        setQuote(null);
        const { status, message } = error as { status?: number; message: string };
        if (status === 422) setWrong({ side, text: message });
        else setTrouble(message);
        return null;
      }
    },
    [api, offer],
  );
  useEffect(() => {
    void ask('from', amount);
    return () => clearTimeout(typing.current);
  }, [ask]);

  const typed = (side: Side, text: string): void => {
    clearTimeout(typing.current);
    asked.current += 1;
    setQuote(null);
    const other = side === 'from' ? 'to' : 'from';
    setTexts((texts) => ({ ...texts, [side]: text, [other]: '' }));
    const wanted = readAmount(text);
    const decimals = side === 'from' ? offer.decimals : facts.to.decimals;
    if (wanted === null)
      setWrong(text.trim() === '' ? null : { side, text: 'Enter an amount, such as 25 or 0.5.' });
    else if ((wanted.split('.')[1] ?? '').length > decimals)
      setWrong({ side, text: `Enter at most ${decimals} digits after the point.` });
    else {
      setWrong(null);
      typing.current = setTimeout(() => void ask(side, wanted), TYPED_MS);
    }
  };

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (quote === null || busy) return;
    setBusy(true);
    await confirm(quote.amount_from).catch((error: Error) => setTrouble(error.message));
    setBusy(false);
  };

  const field = (side: Side, label: string, symbol: string, hint: string) => (
    <div class="field">
      <label for={`amount-${side}`}>{label}</label>
      <div class="amount">
        <input
          id={`amount-${side}`}
          inputMode="decimal"
          autoComplete="off"
          maxLength={40}
          value={texts[side]}
          onInput={({ currentTarget }) => typed(side, currentTarget.value)}
          aria-invalid={wrong?.side === side}
          aria-describedby={`${side}-hint ${side}-wrong`}
        />
        <span class="symbol" aria-hidden="true">
          {symbol}
        </span>
      </div>
      <p class="hint" id={`${side}-hint`}>
        {hint}
      </p>
      <p class="error" id={`${side}-wrong`} aria-live="polite">
        {wrong?.side === side ? wrong.text : ''}
      </p>
    </div>
  );
  const limits = quote
    ? `From ${shortAmount(quote.minimum)} to ${shortAmount(quote.maximum)} ${offer.symbol}`
    : `On the network ${offer.chain}`;
  return (
    <form onSubmit={(event) => void submit(event)} noValidate aria-busy={busy}>
      <Progress at={1} />
      <Heading>How much?</Heading>
      <p class="lead">
        From {offer.symbol} on {offer.chain} to {facts.to.symbol} on {facts.to.chain}
      </p>
      {trouble !== null && <Alert>{trouble}</Alert>}
      {field('from', `You send, in ${offer.symbol}`, offer.symbol, limits)}
      {field('to', `Receiver gets, in ${facts.to.symbol}`, facts.to.symbol, 'Fees are included')}
      <div class="rate" aria-live="polite">
        {quote && (
          <>
            1 {offer.symbol} = {shortAmount(quote.rate)} {facts.to.symbol}
          </>
        )}
      </div>
      {quote && <Holds quote={quote} api={api} over={() => void ask('from', quote.amount_from)} />}
      <Receiver facts={facts} />
      <button type="submit" disabled={quote === null || busy}>
        {busy ? 'One moment…' : 'Continue to payment'}
      </button>
      <button type="button" class="quiet" onClick={back}>
        Pay with something else
      </button>
    </form>
  );
}

/** How long the rate holds; at its end the next one is asked for. */
function Holds({ quote, api, over }: { quote: PayQuote; api: Api; over: () => void }) {
  const now = (): number => api.now();
  const left = useTimeLeft(quote.expires_at, now);
  useEffect(() => {
    if (left === 0) over();
  }, [left === 0]);
  return (
    <p class="small holds">
      This rate holds for <Countdown until={quote.expires_at} now={now} />. Continuing fixes it for this
      payment.
    </p>
  );
}

/** Where it goes: people are asked to look at it before they pay. */
function Receiver({ facts: { to } }: { facts: PayFacts }) {
  return (
    <dl>
      <div>
        <dt>Receiver</dt>
        <dd>
          <code>{to.address}</code>
        </dd>
      </div>
      {to.tag !== null && (
        <div>
          <dt>Tag</dt>
          <dd>
            <code>{to.tag}</code>
          </dd>
        </div>
      )}
      {to.memo !== null && (
        <div>
          <dt>Memo</dt>
          <dd>
            <code>{to.memo}</code>
          </dd>
        </div>
      )}
    </dl>
  );
}
