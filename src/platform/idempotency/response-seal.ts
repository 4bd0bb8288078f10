import type { StoredResponse } from '../event-store/port.js';
import { SealError, type Sealer } from '../sealing/sealer.js';

/** The prefix of sealed bodies, which JSON never has. An index of `event_store.responses` selects them by it. */
const SEALED = 'sealed:';
/** The prefix of a sealed response whose secret has a time limit. */
const UNTIL = /^secret until ([0-9]+)\n/;

const RESPONSE = 'response';

/** Binds a stored response to its key, request and status: sealed where it contains a secret, otherwise by a MAC. */
export class ResponseSeal {
  constructor(
    private readonly sealer: Sealer,
    private readonly now: () => number = Date.now,
  ) {}

  /** Seals a response whose members `secret` open as null from `secretUntil` (epoch ms) on. */
  seal(response: StoredResponse, secretUntil: number | null = null): StoredResponse {
    const text = secretUntil === null ? response.body : `secret until ${secretUntil}\n${response.body}`;
    return { ...response, body: SEALED + this.sealer.seal(text, toAssociatedData(response)) };
  }

  authenticate(response: StoredResponse): StoredResponse {
    return { ...response, body: `${this.sealer.mac(RESPONSE, toText(response))}\n${response.body}` };
  }

  /** Returns the response. Throws {@link SealError} where the service did not store it. */
  open(stored: StoredResponse): StoredResponse {
    if (stored.body.startsWith(SEALED))
      return {
        ...stored,
        body: this.displayed(this.sealer.open(stored.body.slice(SEALED.length), toAssociatedData(stored))),
      };
    const end = stored.body.indexOf('\n');
    const response = { ...stored, body: stored.body.slice(end + 1) };
    if (!this.sealer.isAuthentic(RESPONSE, toText(response), stored.body.slice(0, Math.max(0, end))))
      throw new SealError(`forged response of the key ${stored.key}: the service did not store it`);
    return response;
  }

  private displayed(text: string): string {
    const [head, until] = UNTIL.exec(text) ?? [];
    if (head === undefined) return text;
    const body = text.slice(head.length);
    if (this.now() < Number(until)) return body;
    const parsed: unknown = JSON.parse(body, (name, value: unknown) => (name === 'secret' ? null : value));
    return JSON.stringify(parsed);
  }
}

function toText(response: StoredResponse): string {
  return `${toAssociatedData(response)}\n${response.body}`;
}

function toAssociatedData({ scope, key, fingerprint, status }: StoredResponse): string {
  return `response/${scope}/${key}/${fingerprint}/${status}`;
}
