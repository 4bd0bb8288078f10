import { Injectable } from '@nestjs/common';
import { ExchangeKeysView } from '../../views/keys.js';
import type { KnownExchangeKey } from './exchange-caller.js';
import { ExchangeKeySecrets } from './exchange-key-secrets.js';

/** Looks a key up and opens its valid secrets. */
@Injectable()
export class ExchangeKeyLoader {
  constructor(
    private readonly view: ExchangeKeysView,
    private readonly secrets: ExchangeKeySecrets,
  ) {}

  /** `keyId` must be a uuid; null for a key that is unknown or revoked. */
  async load(keyId: string): Promise<KnownExchangeKey | null> {
    const found = await this.view.find(keyId);
    if (found === null || found.revokedAt !== null) return null;
    const { merchantId, demandsSignature, memoSigning, cidrs, logo, helpUrl, termsUrl } = found;
    const page = { logo, helpUrl, termsUrl };
    const secrets = found.secrets
      .filter(({ revokedAt }) => revokedAt === null)
      .map(({ secretId, sealedSecret }) => this.secrets.open(keyId, secretId, sealedSecret));
    return { keyId, merchantId, demandsSignature, memoSigning, cidrs, page, secrets };
  }
}
