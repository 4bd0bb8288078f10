import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { rich } from '../format.js';
import { AmountEntry, type Limits } from './amount-entry.js';
import { Refusal, type Api, type Offer, type PayQuote } from './api.js';
import { amountText, shortAmount } from './decimal-text.js';
import { usePage } from './page.js';
import { Alert, Countdown, Heading, Progress, useTimeLeft } from './parts.js';
import { chainName } from './messages.js';

type Side = 'from' | 'to';
/** Typing is over after so long. */
const TYPED_MS = 450;

interface Props {
  readonly api: Api;
  readonly offer: Offer;
  /** The amount that was requested before a reload. */
  readonly amount: string | undefined;
  readonly keep: (amount: string) => void;
  readonly confirm: (amount: string) => Promise<void>;
  readonly back: () => void;
}

/** The step for the amounts of both sides and the costs. Each edit, and the end of a quote, requests a new one. */
export function Amounts({ api, offer, amount, keep, confirm, back }: Props) {
  const { facts, format } = usePage();
  const entry = new AmountEntry(format, facts.locale);
  const exact = (each: string): string => amountText(each, facts.locale);
  const short = (each: string): string => shortAmount(each, facts.locale);
  const [texts, setTexts] = useState<Record<Side, string>>({
    from: amount === undefined ? '' : exact(amount),
    to: '',
  });
  const [quote, setQuote] = useState<PayQuote | null>(null);
  /** The limits of the pair. They remain while an amount outside of them is corrected. */
  const [limits, setLimits] = useState<Limits | null>(null);
  const latest = useRef(limits);
  latest.current = limits;
  const [wrong, setWrong] = useState<{ side: Side; text: string } | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const requests = useRef(0);
  const typing = useRef<ReturnType<typeof setTimeout>>(undefined);

  const ask = useCallback(
    async (side: Side, requested: string | undefined): Promise<PayQuote | null> => {
      const mine = ++requests.current;
      try {
        const response = await api.quote({
          pair_id: offer.pair_id,
          ...(requested !== undefined && { [`amount_${side}`]: requested }),
        });
        if (mine !== requests.current) return null;
        setQuote(response);
        setLimits(response);
        setTrouble(null);
        setWrong(null);
        // The field in which the person types is left unchanged.
        setTexts((texts) => ({
          from: side === 'from' && requested !== undefined ? texts.from : exact(response.amount_from),
          to: side === 'to' ? texts.to : exact(response.amount_to),
        }));
        keep(response.amount_from);
        return response;
      } catch (error) {
        if (mine !== requests.current) return null;
        setQuote(null);
        if (!(error instanceof Refusal)) throw error;
        if (error.status === 422) setWrong({ side, text: outside(error) });
        else setTrouble(format(error.messageKey));
        return null;
      }
    },
    [api, offer],
  );
  const outside = (refusal: Refusal): string => entry.refused(refusal, latest.current, offer.symbol);
  useEffect(() => {
    void ask('from', amount);
    return () => clearTimeout(typing.current);
  }, [ask]);

  const typed = (side: Side, text: string): void => {
    clearTimeout(typing.current);
    requests.current += 1;
    setQuote(null);
    const other = side === 'from' ? 'to' : 'from';
    setTexts((texts) => ({ ...texts, [side]: text, [other]: '' }));
    const read = entry.read(text, side === 'from' ? offer.decimals : facts.to.decimals);
    setWrong(read !== null && 'wrong' in read ? { side, text: read.wrong } : null);
    if (read !== null && 'amount' in read)
      typing.current = setTimeout(() => void ask(side, read.amount), TYPED_MS);
  };

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (quote === null || busy) return;
    setBusy(true);
    await confirm(quote.amount_from).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
      setTrouble(error.status === 422 ? outside(error) : format(error.messageKey));
    });
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
  const chain = chainName(format, facts, offer.chain);
  const { symbol: toSymbol } = facts.to;
  const { symbol } = offer;
  const hint =
    limits === null
      ? format('amountNetwork', { chain })
      : format('amountLimits', { ...entry.limits(limits), symbol });
  const lead = { symbol, chain, toSymbol, toChain: chainName(format, facts, facts.to.chain) };
  return (
    <form onSubmit={(event) => void submit(event)} noValidate aria-busy={busy}>
      <Progress at={1} />
      <Heading>{format('amountHeading')}</Heading>
      <p class="lead">{format('amountLead', lead)}</p>
      {trouble !== null && <Alert>{trouble}</Alert>}
      {field('from', format('amountFrom', { symbol }), symbol, hint)}
      {field('to', format('amountTo', { symbol: toSymbol }), toSymbol, format('amountFees'))}
      <div class="understood" aria-live="polite">
        {quote && (
          <>
            <strong>
              {format('amountUnderstood', {
                amount: exact(quote.amount_from),
                symbol,
                toSymbol,
                toAmount: exact(quote.amount_to),
              })}
            </strong>{' '}
            <span>{format('amountRate', { symbol, rate: short(quote.rate), toSymbol })}</span>
          </>
        )}
      </div>
      {quote && <Holds quote={quote} api={api} over={() => void ask('from', quote.amount_from)} />}
      <Receiver />
      {facts.to.is_of_program && <Alert kind="warn">{format('amountProgram', { symbol: toSymbol })}</Alert>}
      <button type="submit" disabled={quote === null || busy}>
        {format(busy ? 'loading' : 'amountSubmit')}
      </button>
      <button type="button" class="quiet" onClick={back}>
        {format('amountBack')}
      </button>
    </form>
  );
}

/** The countdown of a rate. The next quote is requested at its end. */
function Holds({ quote, api, over }: { quote: PayQuote; api: Api; over: () => void }) {
  const { format } = usePage();
  const now = (): number => api.now();
  const left = useTimeLeft(quote.expires_at, now);
  useEffect(() => {
    if (left === 0) over();
  }, [left === 0]);
  const time = <Countdown until={quote.expires_at} now={now} />;
  return <p class="small holds">{rich(format('amountHolds'), { time })}</p>;
}

/** The receiver of the money, which people should check before they pay. */
function Receiver() {
  const { facts, format } = usePage();
  const { address, tag, memo } = facts.to;
  return (
    <dl>
      {Object.entries({ receiver: address, tag, memo } as const).map(
        ([key, text]) =>
          text !== null && (
            <div key={key}>
              <dt>{format(key as 'receiver' | 'tag' | 'memo')}</dt>
              <dd>
                <code>{text}</code>
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}
