import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import type { KnownMerchant } from '../../../platform/http/merchant-directory.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { exchangeKey, type MemoSigning, type PayPageSettings } from '../domain/exchange-key.js';
import type { CredentialKind } from '../domain/credential.js';
import { DirectoryView, isValid, type SecretRow } from '../views/directory.js';
import { CredentialSecrets } from './credential-secrets.js';

export interface ExchangeCaller {
  /** The `api_key`. */
  readonly keyId: string;
  readonly merchantId: string;
  readonly demandsSignature: boolean;
  readonly memoSigning: MemoSigning;
  /** One or, during a rotation, two, oldest first; the HMAC key is the UTF-8 bytes of each. */
  readonly secrets: readonly string[];
  /** The id of each of {@link secrets}. */
  readonly secretIds?: readonly string[];
}

export interface KnownExchangeKey extends ExchangeCaller {
  /** CIDRs it may be used from; empty means anywhere. */
  readonly cidrs: readonly string[];
  /** Where its orders may pay out to; empty: anywhere. */
  readonly withdrawAddresses: readonly string[];
  readonly page: PayPageSettings;
}

/** Null for a key that is unknown or revoked. Cached for two seconds. */
export interface ExchangeKeyDirectory {
  find(apiKey: string): Promise<KnownExchangeKey | null>;
}

export const EXCHANGE_KEY_DIRECTORY = Symbol('EXCHANGE_KEY_DIRECTORY');

/** Reads credentials from the directory and opens their valid secrets. Ids must be uuids; null for an unknown one. */
@Injectable()
export class KnownCredentials {
  constructor(
    private readonly view: DirectoryView,
    private readonly loop: CommandLoop,
    private readonly secrets: CredentialSecrets,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async merchant(merchantId: string): Promise<KnownMerchant | null> {
    const found = await this.view.merchant(merchantId);
    if (found === null) return null;
    const { status, name, displayName, origins, callbacks, cidrs, secrets, requestsPerMinute } = found;
    const { texts: privateKeys, ids: privateKeyIds } = this.valid('api_key', merchantId, secrets);
    const embedding = { displayName: displayName ?? name, origins, callbacks };
    const credentials = { ipAllowList: cidrs, privateKeys, privateKeyIds, requestsPerMinute };
    return { merchantId, status, ...embedding, ...credentials };
  }

  /** Null for a revoked key too. Its events say whose it is: a writer of the database could change the row. */
  async exchangeKey(keyId: string): Promise<KnownExchangeKey | null> {
    const found = await this.view.exchangeKey(keyId);
    if (found === null || found.revokedAt !== null) return null;
    const { state } = await this.loop.load(exchangeKey, keyId);
    if (state.status !== 'active' || state.ids.merchant_id !== found.merchantId) return null;
    const { merchantId, demandsSignature, memoSigning, cidrs, logo, helpUrl, termsUrl } = found;
    const { texts: secrets, ids: secretIds } = this.valid('exchange_key', keyId, found.secrets);
    const page = { logo, helpUrl, termsUrl };
    const { withdrawAddresses } = found;
    const limits = { cidrs, withdrawAddresses };
    return { keyId, merchantId, demandsSignature, memoSigning, ...limits, page, secrets, secretIds };
  }

  private valid(
    kind: CredentialKind,
    id: string,
    secrets: readonly SecretRow[],
  ): { readonly texts: readonly string[]; readonly ids: readonly string[] } {
    const now = this.clock.now();
    const valid = secrets.filter((secret) => isValid(secret, now));
    return {
      texts: valid.map(({ secretId, sealedSecret: sealed }) =>
        this.secrets.open(kind, id, { secretId, sealed }),
      ),
      ids: valid.map(({ secretId }) => secretId),
    };
  }
}
