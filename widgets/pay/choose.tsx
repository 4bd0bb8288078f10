import type { Offer, PayFacts } from './api.js';
import { Heading, Progress } from './parts.js';

/** What to pay with: what can be exchanged, and where it can be bought. */
export function Choose({ facts, choose }: { facts: PayFacts; choose: (offer: Offer) => void }) {
  const offers = facts.offers.filter(({ is_open }) => is_open);
  return (
    <section>
      <Progress at={0} />
      <Heading>What do you want to pay with?</Heading>
      <p class="lead">
        It is exchanged for {facts.to.symbol} and sent on to <span class="address">{facts.to.address}</span>
      </p>
      {offers.length === 0 && <p>Nothing can be exchanged at the moment. Please come back later.</p>}
      <ul class="offers">
        {offers.map((offer) => (
          <li key={offer.pair_id}>
            <button type="button" class="offer" onClick={() => choose(offer)}>
              <img src={offer.icon} alt="" width="36" height="36" />
              <span class="what">
                <strong>{offer.name}</strong>
                <span>
                  {offer.symbol} on {offer.chain}
                </span>
              </span>
              <svg class="chevron" viewBox="0 0 16 16" aria-hidden="true">
                <path d="M6 3.5 10.5 8 6 12.5" />
              </svg>
            </button>
          </li>
        ))}
      </ul>
      {facts.onramps.length > 0 && (
        <>
          <h2>Or buy {facts.to.symbol} with a card or bank transfer</h2>
          <p class="small">These providers open in a new tab and have terms of their own.</p>
          <ul class="offers">
            {facts.onramps.map(({ name, url }) => (
              <li key={url}>
                <a class="offer" href={url} target="_blank" rel="noopener noreferrer">
                  <span class="what">
                    <strong>{name}</strong>
                  </span>
                  <svg class="chevron" viewBox="0 0 16 16" aria-hidden="true">
                    <path d="M5 11 11 5M6 5h5v5" />
                  </svg>
                  <span class="unseen">opens in a new tab</span>
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
