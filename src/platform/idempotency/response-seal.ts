import type { StoredResponse } from '../event-store/port.js';
import { SealError, type Sealer } from '../sealing/sealer.js';

/** JSON never begins like this. An index of `event_store.responses` is of those that do. */
const SEALED = 'sealed:';

/** Purpose of MACs. */
const RESPONSE = 'response';

/**
 * What is stored of a response opens only as the response of its own key, request and status: sealed where it holds a
 * secret, in clear behind a MAC otherwise.
 */
export class ResponseSeal {
  constructor(private readonly sealer: Sealer) {}

  seal(response: StoredResponse): StoredResponse {
    return { ...response, body: SEALED + this.sealer.seal(response.body, placeOf(response)) };
  }

  authenticate(response: StoredResponse): StoredResponse {
    return { ...response, body: `${this.sealer.mac(RESPONSE, textOf(response))}\n${response.body}` };
  }

  /** The response as it was given. Throws {@link SealError} where the service did not store it. */
  open(stored: StoredResponse): StoredResponse {
    if (stored.body.startsWith(SEALED))
      return { ...stored, body: this.sealer.open(stored.body.slice(SEALED.length), placeOf(stored)) };
    const end = stored.body.indexOf('\n');
    const response = { ...stored, body: stored.body.slice(end + 1) };
    if (!this.sealer.isAuthentic(RESPONSE, textOf(response), stored.body.slice(0, Math.max(0, end))))
      throw new SealError(`forged response of the key ${stored.key}: the service did not store it`);
    return response;
  }
}

function textOf(response: StoredResponse): string {
  return `${placeOf(response)}\n${response.body}`;
}

function placeOf({ scope, key, fingerprint, status }: StoredResponse): string {
  return `response/${scope}/${key}/${fingerprint}/${status}`;
}
