import { createHash } from 'node:crypto';
import type { StoredResponse } from '../event-store/port.js';
import { deriveId, isUuid, newId } from '../../kernel/ids.js';
import { IdempotencyKeyExpired } from '../../kernel/idempotency.js';
import type { ResponseSeal } from './response-seal.js';

/**
 * The uuid in an Idempotency-Key header, lower-cased; null when the header is not an RFC 9651 string that holds one
 * (contract.md 4.1).
 */
export function parseIdempotencyKey(header: string): string | null {
  if (header.length !== 38 || header[0] !== '"' || header[37] !== '"') return null;
  const key = header.slice(1, 37);
  return isUuid(key) ? key.toLowerCase() : null;
}

/** Distinguishes operations under the same key: method, path as sent, and body. */
export function fingerprintOf(method: string, path: string, body: Buffer): string {
  return createHash('sha256').update(`${method}\n${path}\n`, 'utf8').update(body).digest('base64url');
}

/**
 * One request's claim to be done once (contract.md 4). Handlers get it through `@Ticket()`.
 * Without an Idempotency-Key the id is random and there is no response to store.
 */
export interface IdempotencyTicket {
  /**
   * Id of the aggregate this request creates: the same for every repeat under one key. `use` counts how often the key
   * was used again after its response was gone; see {@link withIdempotencyKey}.
   */
  id(purpose: string, use?: number): string;
  /**
   * The response to hand to `CommandLoop.execute`; undefined without a key. With `holdsSecret` (secrets, personal data)
   * it is stored sealed, and opened when it is replayed.
   */
  response(
    status: number,
    body: string,
    options?: { readonly holdsSecret: boolean },
  ): StoredResponse | undefined;
}

/**
 * Does `operation` under the id of the ticket's key. When that belongs to an operation whose response is no longer kept
 * ({@link IdempotencyKeyExpired}), the request is a new one and gets the next id, which a repeat of it finds again.
 */
export async function withIdempotencyKey<T>(
  ticket: Pick<IdempotencyTicket, 'id'>,
  purpose: string,
  operation: (id: string) => Promise<T>,
): Promise<T> {
  for (let use = 0; ; use += 1) {
    try {
      return await operation(ticket.id(purpose, use));
    } catch (error) {
      if (!(error instanceof IdempotencyKeyExpired)) throw error;
    }
  }
}

/** The ticket of one request; `key` is null when it came without an Idempotency-Key. */
export class RequestTicket implements IdempotencyTicket {
  private seed: string | null;
  /** The response that was last sent with a commit. */
  committed: StoredResponse | undefined;
  /** Its response describes the present state: a repeat under the key runs again. */
  isTransient = false;
  private holdsSecret = false;
  /** Until when a replay has the secret, in epoch ms; null: as long as the response is kept. */
  private secretUntil: number | null = null;

  constructor(
    readonly scope: string,
    readonly key: string | null,
    readonly fingerprint: string,
    private readonly seal: ResponseSeal | null = null,
  ) {
    this.seed = key;
  }

  id(purpose: string, use = 0): string {
    this.seed ??= newId();
    return deriveId(this.scope, this.seed, purpose, ...(use === 0 ? [] : [String(use)]));
  }

  response(
    status: number,
    body: string,
    { holdsSecret } = { holdsSecret: false },
  ): StoredResponse | undefined {
    if (this.key === null) return undefined;
    this.holdsSecret ||= holdsSecret;
    this.committed = { scope: this.scope, key: this.key, fingerprint: this.fingerprint, status, body };
    return this.toStored(this.committed);
  }

  /**
   * For an operation whose response does not travel with events and holds secrets or personal data: it is stored sealed.
   * After `secretForMs` each member `secret` of a replay is null.
   */
  storeSealed({ secretForMs }: { readonly secretForMs?: number } = {}): void {
    this.holdsSecret = true;
    if (secretForMs !== undefined) this.secretUntil = Date.now() + secretForMs;
  }

  /** The response of this request as it is stored: sealed when it holds a secret. */
  toStored(response: StoredResponse): StoredResponse {
    if (this.seal !== null)
      return this.holdsSecret ? this.seal.seal(response, this.secretUntil) : this.seal.authenticate(response);
    if (this.holdsSecret) throw new Error('a response with a secret needs a seal');
    return response;
  }

  /** The body of a stored response as the client received it. */
  openBody(response: StoredResponse): string {
    return this.seal === null ? response.body : this.seal.open(response).body;
  }
}
