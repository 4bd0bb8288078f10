import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { SECRET_BYTES, signingSecret } from './delivering/signature.js';

interface Place {
  readonly merchant_id: string;
  readonly endpoint_id: string;
}

/** Opened secrets that are remembered. */
const MOST_OPENED = 10_000;

interface Opened extends Place {
  readonly secret: string;
}

/** Makes signing secrets, and keeps them sealed: a sealed one opens only for its own merchant and endpoint. */
@Injectable()
export class SigningSecrets {
  /** By their sealed text, because every attempt needs one and opening it costs more than signing with it. */
  private readonly opened = new LRUCache<string, Opened>({ max: MOST_OPENED });

  constructor(private readonly sealer: Sealer) {}

  /** A fresh secret, sealed. */
  create(place: Place): string {
    return this.sealer.seal(signingSecret(randomBytes(SECRET_BYTES)), dataOf(place));
  }

  /** Throws SealError, also for a secret that was opened before at its own place and now stands at another. */
  open(place: Place, sealed: string): string {
    const known = this.opened.get(sealed);
    if (known?.merchant_id === place.merchant_id && known.endpoint_id === place.endpoint_id)
      return known.secret;
    const { merchant_id, endpoint_id } = place;
    const secret = this.sealer.open(sealed, dataOf(place));
    this.opened.set(sealed, { merchant_id, endpoint_id, secret });
    return secret;
  }
}

function dataOf({ merchant_id, endpoint_id }: Place): string {
  return `webhook_endpoint/${merchant_id}/${endpoint_id}`;
}
