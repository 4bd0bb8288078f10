import { useEffect, useMemo, useState } from 'preact/hooks';
import { Api, Refusal, type PayFacts, type PayOrder } from './api.js';
import { Amounts } from './amounts.js';
import { Choose } from './choose.js';
import { Outcome } from './outcome.js';
import { Alert, Heading } from './parts.js';
import { Payment } from './payment.js';
import { PlaceKeeper, type Place } from './place.js';

/** The page: what to pay with, how much, and the order to its end. Where it is follows from the place alone. */
export function App({ facts }: { facts: PayFacts }) {
  const keeper = useMemo(() => new PlaceKeeper(facts.link), []);
  const [place, setPlace] = useState<Place | null>(() => {
    const kept = keeper.read();
    // An order is followed with the session that it was made in: the link may have expired meanwhile.
    if (kept?.order !== undefined) return { ...kept, session: facts.session ?? kept.session };
    return facts.session === null ? null : { ...kept, session: facts.session };
  });
  const api = useMemo(() => (place === null ? null : new Api(place.session)), [place?.session]);
  const go = (next: Place): void => {
    keeper.write(next);
    setPlace(next);
  };
  const offer = facts.offers.find(({ pair_id, is_open }) => pair_id === place?.pair && is_open);

  if (place === null || api === null) return <LinkExpired />;
  const { session } = place;
  const startAgain = facts.session === null ? null : () => go({ session });
  if (place.order !== undefined)
    return <FollowedOrder key={place.order} {...{ api, facts, id: place.order, again: startAgain }} />;
  if (offer === undefined)
    return (
      <>
        <Notice text={facts.notice} />
        <Choose facts={facts} choose={({ pair_id }) => go({ session, pair: pair_id })} />
      </>
    );
  const confirm = async (amount: string): Promise<void> => {
    // The same request again, after a lost response or a reload, is the same order; another amount is another one.
    const request = place.request !== undefined && place.amount === amount ? place.request : newRequest();
    const asked = { ...place, amount, request };
    keeper.write(asked);
    const { order } = await api.create({ pair_id: offer.pair_id, amount_from: amount, request_id: request });
    go({ ...asked, order: order.id });
  };
  return (
    <>
      <Notice text={facts.notice} />
      <Amounts
        {...{ api, facts, offer, confirm, amount: place.amount }}
        keep={(amount) => {
          if (amount === place.amount) return;
          go({ session, pair: offer.pair_id, amount });
        }}
        back={() => go({ session })}
      />
    </>
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
  readonly facts: PayFacts;
  readonly id: string;
  readonly again: (() => void) | null;
}

function FollowedOrder({ api, facts, id, again }: Followed) {
  const [seen, setSeen] = useState<PayOrder | null>(null);
  const [lost, setLost] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(null);
  useEffect(() => {
    const over = new AbortController();
    api.follow(id, setSeen, setLost, over.signal).catch((error: unknown) => {
      if (error instanceof Refusal) setRefusal(error.message);
    });
    return () => over.abort();
  }, [api, id]);
  if (refusal !== null && seen === null)
    return (
      <section>
        <Heading>This payment is not to be found</Heading>
        <p class="lead">{refusal}</p>
        {again !== null && (
          <button type="button" onClick={again}>
            Start again
          </button>
        )}
      </section>
    );
  if (seen === null)
    return (
      <section class="outcome">
        <span class="spinner" aria-hidden="true" />
        <p role="status">{lost ? 'The connection is lost. Trying again…' : 'Loading your payment…'}</p>
      </section>
    );
  const offer = facts.offers.find(({ pair_id }) => pair_id === seen.order.pair_id);
  if (offer === undefined) return <Alert>This payment cannot be shown here any more.</Alert>;
  const waits = seen.order.status === 'pending' || seen.order.status === 'paid';
  const act = async (action: 'mark_as_paid' | 'cancel'): Promise<void> => setSeen(await api.act(id, action));
  return (
    <>
      <Notice text={facts.notice} />
      {(lost || refusal !== null) && (
        <p class="lost" role="status">
          {refusal ?? 'The connection is lost. Trying again…'}
        </p>
      )}
      {waits ? (
        <Payment {...{ facts, offer, seen, act }} now={() => api.now()} />
      ) : (
        <Outcome {...{ facts, offer, seen, again }} />
      )}
    </>
  );
}

/** What people of a country have to know. */
function Notice({ text }: { text: string | null }) {
  return text === null ? null : (
    <p class="notice" role="note">
      {text}
    </p>
  );
}

function LinkExpired() {
  return (
    <section>
      <Heading>This link has expired</Heading>
      <p class="lead">
        Links like this one are good for 30 minutes. Go back to where you found it and open it again.
      </p>
    </section>
  );
}
