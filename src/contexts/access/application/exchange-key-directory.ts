import type { MemoSigning } from '../domain/exchange-key.js';
import type { PayPageSettings } from '../domain/pay-page-settings.js';

/** Who calls the exchange: what its operations need to know of the key of the request. */
export interface ExchangeCaller {
  /** The `api_key`. */
  readonly keyId: string;
  readonly merchantId: string;
  readonly demandsSignature: boolean;
  readonly memoSigning: MemoSigning;
  /** One or, during a rotation, two, oldest first; the HMAC key is the UTF-8 bytes of each. */
  readonly secrets: readonly string[];
}

/** A valid key as the directory knows it. */
export interface KnownExchangeKey extends ExchangeCaller {
  /** CIDRs it may be used from; empty means anywhere. */
  readonly cidrs: readonly string[];
  readonly page: PayPageSettings;
}

/** Where an `api_key` is looked up; null for one that is unknown or revoked. Kept in memory for two seconds. */
export interface ExchangeKeyDirectory {
  find(apiKey: string): Promise<KnownExchangeKey | null>;
}

/** Nest injection token of the {@link ExchangeKeyDirectory}. */
export const EXCHANGE_KEY_DIRECTORY = Symbol('EXCHANGE_KEY_DIRECTORY');
