import type { PayFacts } from './api.js';

/** The progress of a person, which survives a reload of this tab. The `#` of the address names the order. */
export interface Place {
  readonly session: string;
  readonly pair?: string;
  readonly amount?: string;
  /** The id of an order's creation. A repeat creates no second order. */
  readonly request?: string;
  readonly order?: string;
}

/**
 * Stores the place of the payer per `link`. The address contains the order, for other tabs and devices. After
 * its expiry, a link opens the last order that this browser created with it.
 */
export class PlaceKeeper {
  constructor(private readonly facts: Pick<PayFacts, 'link' | 'session' | 'has_expired'>) {}

  read(): Place {
    const { session, has_expired: hasExpired } = this.facts;
    const [order] = /[0-9a-f-]{36}$/.exec(location.hash) ?? [];
    let kept: Partial<Place> | null = null;
    try {
      kept = JSON.parse(
        (sessionStorage.getItem(this.name) ?? (hasExpired && localStorage.getItem(this.name))) || 'null',
      ) as Place | null;
    } catch {
      // Nothing is kept.
    }
    return { ...kept, ...(order !== undefined && { order }), session };
  }

  write(place: Place): void {
    const { pathname, search } = location;
    history.replaceState(null, '', pathname + search + (place.order === undefined ? '' : `#${place.order}`));
    try {
      sessionStorage.setItem(this.name, JSON.stringify(place));
      if (place.order !== undefined) localStorage.setItem(this.name, JSON.stringify({ order: place.order }));
    } catch {
      // A browser that keeps nothing for framed or private pages.
    }
  }

  private get name(): string {
    return `pay ${this.facts.link}`;
  }
}
