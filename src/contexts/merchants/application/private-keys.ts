import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { randomBytes } from 'node:crypto';
import { newId } from '../../../kernel/ids.js';
import { Sealer } from '../../../platform/sealing/sealer.js';

const PREFIX = 'dsk_';
const RANDOM_BYTES = 32;
/** Opened keys kept at hand; two for each merchant of the directory's cache. */
const MAX_OPENED = 20_000;

export interface GeneratedKey {
  readonly keyId: string;
  /** `dsk_` and 64 hexadecimal digits. The HMAC key is the UTF-8 bytes of this text (contract.md 2.2). */
  readonly privateKey: string;
  readonly sealed: string;
}

/** Makes merchants' private keys, and opens sealed ones. */
@Injectable()
export class PrivateKeys {
  private readonly opened = new LRUCache<string, string>({ max: MAX_OPENED });

  constructor(private readonly sealer: Sealer) {}

  generate(merchantId: string): GeneratedKey {
    const keyId = newId();
    const privateKey = PREFIX + randomBytes(RANDOM_BYTES).toString('hex');
    return { keyId, privateKey, sealed: this.sealer.seal(privateKey, placeOf(merchantId, keyId)) };
  }

  /** Throws SealError when the text was sealed for another merchant or key. */
  open(merchantId: string, keyId: string, sealed: string): string {
    const place = placeOf(merchantId, keyId);
    const known = this.opened.get(place);
    if (known !== undefined) return known;
    const privateKey = this.sealer.open(sealed, place);
    this.opened.set(place, privateKey);
    return privateKey;
  }
}

function placeOf(merchantId: string, keyId: string): string {
  return `merchant/${merchantId}/key/${keyId}`;
}
