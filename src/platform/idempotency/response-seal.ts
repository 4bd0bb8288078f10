import type { StoredResponse } from '../event-store/port.js';
import type { Sealer } from '../sealing/sealer.js';

/** JSON never begins like this. An index of `event_store.answers` is of those that do. */
const SEALED = 'sealed:';

/** Responses that hold a secret are stored sealed: what is stored opens only as the response of its own key. */
export class ResponseSeal {
  constructor(private readonly sealer: Sealer) {}

  seal(response: StoredResponse): StoredResponse {
    return { ...response, body: SEALED + this.sealer.seal(response.body, placeOf(response)) };
  }

  /** The response as it was given; one that was not sealed comes back as it is. */
  open(response: StoredResponse): StoredResponse {
    if (!response.body.startsWith(SEALED)) return response;
    return { ...response, body: this.sealer.open(response.body.slice(SEALED.length), placeOf(response)) };
  }
}

/** Associated data of what is stored already: this word stays. */
function placeOf({ scope, key }: StoredResponse): string {
  return `answer/${scope}/${key}`;
}
