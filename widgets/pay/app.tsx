import { useEffect, useMemo, useState } from 'preact/hooks';
import { formatIn } from '../format.js';
import { Amounts } from './amounts.js';
import { Api, Refusal, type Action, type PayFacts, type PayOrder } from './api.js';
import { Choose } from './choose.js';
import { Frame } from './frame.js';
import { Outcome } from './outcome.js';
import { PageContext, usePage } from './page.js';
import { Alert, Copyable, Heading } from './parts.js';
import { Payment } from './payment.js';
import { PlaceKeeper, type Place } from './place.js';

/** The page: what to pay with, how much, and the order to its end. */
export function App({ facts }: { facts: PayFacts }) {
  const page = useMemo(() => ({ facts, format: formatIn(facts.messages) }), []);
  return (
    <PageContext.Provider value={page}>
      <Frame>
        <Screens facts={facts} />
      </Frame>
    </PageContext.Provider>
  );
}

/** The screen that the place selects. */
function Screens({ facts }: { facts: PayFacts }) {
  const keeper = useMemo(() => new PlaceKeeper(facts), []);
  const [place, setPlace] = useState<Place>(() => keeper.read());
  const { session } = place;
  const api = useMemo(() => new Api(session), [session]);
  const go = (next: Place): void => {
    keeper.write(next);
    setPlace(next);
  };
  const offer = facts.offers.find(({ pair_id, is_open }) => pair_id === place.pair && is_open);

  const startAgain = facts.has_expired ? null : () => go({ session });
  if (place.order !== undefined)
    return <FollowedOrder key={place.order} api={api} id={place.order} again={startAgain} />;
  if (facts.has_expired) return <LinkExpired />;
  if (offer === undefined) return <Choose choose={({ pair_id }) => go({ session, pair: pair_id })} />;
  const confirm = async (amount: string): Promise<void> => {
    // The same request again, after a lost response or a reload, is the same order; another amount is another one.
    const request = place.request !== undefined && place.amount === amount ? place.request : newRequest();
    const requested = { ...place, amount, request };
    keeper.write(requested);
    const { order } = await api.create({ pair_id: offer.pair_id, amount_from: amount, request_id: request });
    go({ ...requested, order: order.id });
  };
  return (
    <Amounts
      api={api}
      offer={offer}
      confirm={confirm}
      amount={place.amount}
      keep={(amount) => {
        if (amount === place.amount) return;
        go({ session, pair: offer.pair_id, amount });
      }}
      back={() => go({ session })}
    />
  );
}

/** 32 hexadecimal digits; `randomUUID` is not there without HTTPS. */
function newRequest(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}

interface Followed {
  readonly api: Api;
  readonly id: string;
  readonly again: (() => void) | null;
}

function FollowedOrder({ api, id, again }: Followed) {
  const { facts, format } = usePage();
  const [seen, setSeen] = useState<PayOrder | null>(null);
  const [lost, setLost] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  useEffect(() => {
    const over = new AbortController();
    api.follow(id, setSeen, setLost, over.signal).catch((error: unknown) => {
      if (error instanceof Refusal) setRefusal(error);
    });
    return () => over.abort();
  }, [api, id]);
  if (refusal !== null && seen === null)
    return (
      <section>
        <Heading>{format('gone')}</Heading>
        <p class="lead">{format(refusal.messageKey)}</p>
        <Copyable label={format('order')} text={id} />
        {again !== null && (
          <button type="button" onClick={again}>
            {format('startAgain')}
          </button>
        )}
      </section>
    );
  if (seen === null)
    return (
      <section class="outcome">
        <span class="spinner" aria-hidden="true" />
        <p role="status">{format(lost ? 'lost' : 'loading')}</p>
      </section>
    );
  const offer = facts.offers.find(({ pair_id }) => pair_id === seen.order.pair_id);
  if (offer === undefined) return <Alert>{format('goneOffer')}</Alert>;
  const waits = seen.order.status === 'pending' || seen.order.status === 'paid';
  const act = async (action: Action): Promise<void> => setSeen(await api.act(id, action));
  return (
    <>
      {(lost || refusal !== null) && (
        <p class="lost" role="status">
          {format(refusal?.messageKey ?? 'lost')}
        </p>
      )}
      {waits ? (
        <Payment offer={offer} seen={seen} act={act} now={() => api.now()} />
      ) : (
        <Outcome offer={offer} seen={seen} again={again} />
      )}
    </>
  );
}

function LinkExpired() {
  const { facts, format } = usePage();
  return (
    <section>
      <Heading>{format('expiredLink')}</Heading>
      <p class="lead">{format('expiredLinkText', { merchant: facts.merchant.name })}</p>
    </section>
  );
}
