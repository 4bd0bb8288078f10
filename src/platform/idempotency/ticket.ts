import { createHash } from 'node:crypto';
import type { StoredAnswer } from '../event-store/port.js';
import { deriveId, isUuid, newId } from '../../kernel/ids.js';
import type { AnswerSeal } from './response-seal.js';
import type { IdempotencyTicket } from '../http/edge.js';

/**
 * The uuid in an Idempotency-Key header, lower-cased; null when the header is not an RFC 9651 string that holds one
 * (contract.md 4.1).
 */
export function parseIdempotencyKey(header: string): string | null {
  if (header.length !== 38 || header[0] !== '"' || header[37] !== '"') return null;
  const key = header.slice(1, 37);
  return isUuid(key) ? key.toLowerCase() : null;
}

/** Tells one operation from another under the same key: method, path as sent, and body. */
export function fingerprintOf(method: string, path: string, body: Buffer): string {
  return createHash('sha256').update(`${method}\n${path}\n`, 'utf8').update(body).digest('base64url');
}

/** The ticket of one request; `key` is null when it came without an Idempotency-Key. */
export class RequestTicket implements IdempotencyTicket {
  private seed: string | null;
  private lastOffered: StoredAnswer | undefined;
  private holdsSecret = false;

  constructor(
    readonly scope: string,
    readonly key: string | null,
    readonly fingerprint: string,
    private readonly seal: AnswerSeal | null = null,
  ) {
    this.seed = key;
  }

  id(purpose: string, use = 0): string {
    this.seed ??= newId();
    return deriveId(this.scope, this.seed, purpose, ...(use === 0 ? [] : [String(use)]));
  }

  answer(status: number, body: string, { holdsSecret } = { holdsSecret: false }): StoredAnswer | undefined {
    if (this.key === null) return undefined;
    this.holdsSecret ||= holdsSecret;
    this.lastOffered = { scope: this.scope, key: this.key, fingerprint: this.fingerprint, status, body };
    return this.atRest(this.lastOffered);
  }

  /** An answer of this request as it may be stored. */
  atRest(answer: StoredAnswer): StoredAnswer {
    if (!this.holdsSecret) return answer;
    if (this.seal === null) throw new Error('an answer with a secret needs a seal');
    return this.seal.seal(answer);
  }

  /** The body of a stored answer as it was given. */
  opened(answer: StoredAnswer): string {
    return this.seal === null ? answer.body : this.seal.open(answer).body;
  }

  /** The answer that last went along with a commit. */
  get offered(): StoredAnswer | undefined {
    return this.lastOffered;
  }
}
