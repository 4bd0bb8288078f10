import { Injectable } from '@nestjs/common';
import { newId } from '../../../../kernel/ids.js';
import { SealedSecrets } from '../../../../platform/sealing/sealed-secrets.js';
import { Sealer } from '../../../../platform/sealing/sealer.js';

export interface GeneratedSecret {
  readonly secretId: string;
  /** `dxs_` and 64 hexadecimal digits. The HMAC key is the UTF-8 bytes of this text (contract.md 21.3). */
  readonly secret: string;
  readonly sealed: string;
}

/** Makes the secrets of exchange keys, and opens sealed ones. */
@Injectable()
export class ExchangeKeySecrets {
  private readonly secrets: SealedSecrets;

  constructor(sealer: Sealer) {
    this.secrets = new SealedSecrets(sealer, 'dxs_');
  }

  generate(keyId: string): GeneratedSecret {
    const secretId = newId();
    return { secretId, ...this.secrets.generate(placeOf(keyId, secretId)) };
  }

  /** Throws SealError when the text was sealed for another key or secret. */
  open(keyId: string, secretId: string, sealed: string): string {
    return this.secrets.open(placeOf(keyId, secretId), sealed);
  }
}

function placeOf(keyId: string, secretId: string): string {
  return `exchange-key/${keyId}/secret/${secretId}`;
}
