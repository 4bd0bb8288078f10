import type { StoredAnswer } from '../event-store/port.js';
import { KeyOutlived } from '../../kernel/repeats.js';

/** What the request guard must know of a merchant. */
export interface MerchantCredentials {
  readonly merchantId: string;
  /** One or, during a rotation, two private keys; the HMAC key is the UTF-8 bytes of each. */
  readonly privateKeys: readonly string[];
  readonly status: 'active' | 'suspended';
  /** CIDRs the merchant calls from; empty means anywhere. */
  readonly ipAllowList: readonly string[];
}

/** Where the guard looks up `svc-api-key`; the merchants context provides it. Asked on every request: keep it cached. */
export interface MerchantDirectory {
  find(apiKey: string): Promise<MerchantCredentials | null>;
}

/** Nest injection token of the {@link MerchantDirectory}. */
export const MERCHANT_DIRECTORY = Symbol('MERCHANT_DIRECTORY');

/**
 * One request's claim to be done once (contract.md 4). Handlers get it through `@Ticket()`.
 * Without an Idempotency-Key the id is random and there is no answer to store.
 */
export interface IdempotencyTicket {
  /**
   * Id of the aggregate this request creates: the same for every repeat under one key. `use` counts how often the key
   * was used again after its response was gone; see {@link underKey}.
   */
  id(purpose: string, use?: number): string;
  /**
   * The answer to hand to `CommandLoop.execute`; undefined without a key. With `holdsSecret` (secrets, personal data) it is
   * stored sealed,   * and opened when it is replayed.
   */
  answer(status: number, body: string, options?: { readonly holdsSecret: boolean }): StoredAnswer | undefined;
}

/**
 * Does `operation` under the id of the ticket's key. When that belongs to an operation whose response is no longer kept
 * ({@link KeyOutlived}), the request is one of its own and gets the next id, which a repeat of it finds again.
 */
export async function underKey<T>(
  ticket: Pick<IdempotencyTicket, 'id'>,
  purpose: string,
  operation: (id: string) => Promise<T>,
): Promise<T> {
  for (let use = 0; ; use += 1) {
    try {
      return await operation(ticket.id(purpose, use));
    } catch (error) {
      if (!(error instanceof KeyOutlived)) throw error;
    }
  }
}

/** Answers of keyed requests, by (scope, key); the event store provides it. */
export interface AnswerStore {
  /** Stores the answer, unless the key was answered before: then that answer is returned and nothing changes. */
  storeOrGet(answer: StoredAnswer): Promise<StoredAnswer | null>;
  /** The answer under the key, or null. */
  find(scope: string, key: string): Promise<StoredAnswer | null>;
}

/** Nest injection token of the {@link AnswerStore}. */
export const ANSWER_STORE = Symbol('ANSWER_STORE');
