import { deriveId } from '../../kernel/ids.js';
import type { StoredResponse } from '../event-store/port.js';
import { SealError, type Sealer } from '../sealing/sealer.js';

/** Derives the ids that a request creates, so that a repeat with the same seed gets the same ids. */
export class IdempotencyTicket {
  /** The number of reuses of the key after its response expired, each for another operation. */
  uses = 0;
  private readonly seed: readonly string[];

  constructor(...seed: readonly string[]) {
    this.seed = seed;
  }

  id(purpose: string): string {
    return deriveId(...this.seed, purpose, ...(this.uses === 0 ? [] : [String(this.uses)]));
  }

  /** Returns the response to store with the events; undefined without an Idempotency-Key. */
  response(_status: number, _body: string): StoredResponse | undefined {
    return undefined;
  }

  /** Sets the duration in ms after which a replay has null for each member `secret`. */
  hideSecretAfter(_ms: number): void {}
}

/** The ticket of a request with an Idempotency-Key (contract.md 4). */
export class KeyedTicket extends IdempotencyTicket {
  private committed: Pick<StoredResponse, 'status' | 'body'> | null = null;
  /** The expiry of the secret in replays, in epoch ms; null for a secret without expiry. */
  private secretUntil: number | null = null;

  constructor(
    readonly request: Pick<StoredResponse, 'scope' | 'key' | 'fingerprint'>,
    private readonly seal: ResponseSeal,
    /** True to store the response unsealed, because it has neither a secret nor personal data. */
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

/** The prefix of sealed responses, with which no JSON begins. An index of `event_store.responses` uses it. */
const SEALED = 'sealed:';
/** The prefix of a sealed response whose secret expires. */
const UNTIL = /^secret until ([0-9]+)\n/;

const RESPONSE = 'response';

/** Binds a stored response to its request: by a seal if it has secrets or personal data, else by a MAC. */
export class ResponseSeal {
  constructor(
    private readonly sealer: Sealer,
    private readonly now: () => number = Date.now,
  ) {}

  /** Seals a response. From `secretUntil` (epoch ms) on, `open` returns null for each member `secret`. */
  seal(response: StoredResponse, secretUntil: number | null = null): StoredResponse {
    const text = secretUntil === null ? response.body : `secret until ${secretUntil}\n${response.body}`;
    return { ...response, body: SEALED + this.sealer.seal(text, toAssociatedData(response)) };
  }

  authenticate(response: StoredResponse): StoredResponse {
    return { ...response, body: `${this.sealer.mac(RESPONSE, toText(response))}\n${response.body}` };
  }

  /** Returns the original response. Throws SealError for a response that the service did not store. */
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
