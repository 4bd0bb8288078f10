import { Injectable } from '@nestjs/common';
import type { KnownMerchant } from '../../../platform/http/merchant-directory.js';
import { DirectoryView } from '../views/directory.js';
import { PrivateKeys } from './private-keys.js';

/** Looks a merchant up in the directory and opens its valid private keys. */
@Injectable()
export class CredentialsLoader {
  constructor(
    private readonly view: DirectoryView,
    private readonly privateKeys: PrivateKeys,
  ) {}

  /** `merchantId` must be a uuid; null for an unknown one. */
  async load(merchantId: string): Promise<KnownMerchant | null> {
    const found = await this.view.find(merchantId);
    if (found === null) return null;
    const { origins, callbacks, shownAs } = found.embedding;
    return {
      merchantId: found.merchantId,
      shownAs: shownAs ?? found.name,
      origins,
      callbacks,
      status: found.status,
      ipAllowList: found.ipAllowList,
      privateKeys: found.keys
        .filter(({ revokedAt }) => revokedAt === null)
        .map(({ keyId, sealedPrivateKey }) => this.privateKeys.open(merchantId, keyId, sealedPrivateKey)),
    };
  }
}
