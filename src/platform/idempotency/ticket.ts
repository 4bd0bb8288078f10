import { deriveId } from '../../kernel/ids.js';
import type { StoredResponse } from '../event-store/port.js';
import type { ResponseSeal } from './response-seal.js';

/** The derived ids of one request, equal for every repeat with the same seed. Handlers get it by `@Ticket()`. */
export class IdempotencyTicket {
  /** The number of reuses of the key after its response had expired, each for another operation. */
  uses = 0;
  private readonly seed: readonly string[];

  constructor(...seed: readonly string[]) {
    this.seed = seed;
  }

  id(purpose: string): string {
    return deriveId(...this.seed, purpose, ...(this.uses === 0 ? [] : [String(this.uses)]));
  }

  /** Returns the response for `CommandLoop.execute`; undefined without an Idempotency-Key. */
  response(_status: number, _body: string): StoredResponse | undefined {
    return undefined;
  }

  /** Sets the time after which each member `secret` of a replay is null. */
  hideSecretAfter(_ms: number): void {}
}

/** The ticket of a request with an Idempotency-Key (contract.md 4). */
export class KeyedTicket extends IdempotencyTicket {
  private committed: Pick<StoredResponse, 'status' | 'body'> | null = null;
  /** The time in epoch ms from which a replay hides the secret; null without a limit. */
  private secretUntil: number | null = null;

  constructor(
    readonly request: Pick<StoredResponse, 'scope' | 'key' | 'fingerprint'>,
    private readonly seal: ResponseSeal,
    /** The response has no secret and no personal data. */
    private readonly inClear = false,
  ) {
    super(request.scope, request.key);
  }

  override response(status: number, body: string): StoredResponse {
    this.committed = { status, body };
    return this.toStored(status, body);
  }

  override hideSecretAfter(ms: number): void {
    this.secretUntil = Date.now() + ms;
  }

  hasCommitted(status: number, body: string): boolean {
    return this.committed?.status === status && this.committed.body === body;
  }

  toStored(status: number, body: string): StoredResponse {
    const response = { ...this.request, status, body };
    return this.inClear || body === ''
      ? this.seal.authenticate(response)
      : this.seal.seal(response, this.secretUntil);
  }
}
