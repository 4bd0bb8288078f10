import { rich } from '../format.js';
import type { Offer } from './api.js';
import { usePage } from './page.js';
import { Heading, Progress } from './parts.js';
import { chainName } from './messages.js';

/** The choice of the means of payment: tokens to exchange, and places to buy. */
export function Choose({ choose }: { choose: (offer: Offer) => void }) {
  const { facts, format } = usePage();
  const { to, onramps } = facts;
  const offers = facts.offers.filter(({ is_open }) => is_open);
  const lead = format('chooseLead', { symbol: to.symbol });
  return (
    <section>
      <Progress at={0} />
      <Heading>{format('chooseHeading')}</Heading>
      <p class="lead">{rich(lead, { address: <span class="address">{to.address}</span> })}</p>
      {offers.length === 0 && <p>{format('chooseNothing')}</p>}
      <ul class="offers">
        {offers.map((offer) => (
          <li key={offer.pair_id}>
            <button type="button" class="offer" onClick={() => choose(offer)}>
              <img src={offer.icon} alt="" width="36" height="36" />
              <span class="what">
                <strong>{offer.name}</strong>
                <span>
                  {format('onChain', { symbol: offer.symbol, chain: chainName(format, facts, offer.chain) })}
                </span>
              </span>
              <svg class="chevron" viewBox="0 0 16 16" aria-hidden="true">
                <path d="M6 3.5 10.5 8 6 12.5" />
              </svg>
            </button>
          </li>
        ))}
      </ul>
      {onramps.length > 0 && (
        <>
          <h2>{format('onrampsHeading', { symbol: to.symbol })}</h2>
          <p class="small">{format('onrampsText')}</p>
          <ul class="offers">
            {onramps.map(({ name, url }) => (
              <li key={url}>
                <a class="offer" href={url} target="_blank" rel="noopener noreferrer">
                  <span class="what">
                    <strong>{name}</strong>
                  </span>
                  <svg class="chevron" viewBox="0 0 16 16" aria-hidden="true">
                    <path d="M5 11 11 5M6 5h5v5" />
                  </svg>
                  <span class="unseen">{format('opensTab')}</span>
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
