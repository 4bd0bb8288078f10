import { Injectable } from '@nestjs/common';
import { newId } from '../../../kernel/ids.js';
import { SealedSecrets } from '../../../platform/sealing/sealed-secrets.js';
import { Sealer } from '../../../platform/sealing/sealer.js';

export interface GeneratedKey {
  readonly keyId: string;
  /** `dsk_` and 64 hexadecimal digits. The HMAC key is the UTF-8 bytes of this text (contract.md 2.2). */
  readonly privateKey: string;
  readonly sealed: string;
}

/** Makes merchants' private keys, and opens sealed ones. */
@Injectable()
export class PrivateKeys {
  private readonly secrets: SealedSecrets;

  constructor(sealer: Sealer) {
    this.secrets = new SealedSecrets(sealer, 'dsk_');
  }

  generate(merchantId: string): GeneratedKey {
    const keyId = newId();
    const { secret, sealed } = this.secrets.generate(placeOf(merchantId, keyId));
    return { keyId, privateKey: secret, sealed };
  }

  /** Throws SealError when the text was sealed for another merchant or key. */
  open(merchantId: string, keyId: string, sealed: string): string {
    return this.secrets.open(placeOf(merchantId, keyId), sealed);
  }
}

function placeOf(merchantId: string, keyId: string): string {
  return `merchant/${merchantId}/key/${keyId}`;
}
