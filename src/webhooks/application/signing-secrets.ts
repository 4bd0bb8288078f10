import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Sealer } from '../../platform/sealing/sealer.js';
import { SECRET_BYTES, signingSecret } from './delivering/signature.js';

interface Place {
  readonly merchant_id: string;
  readonly endpoint_id: string;
}

/** Makes signing secrets, and keeps them sealed: a sealed one opens only for its own merchant and endpoint. */
@Injectable()
export class SigningSecrets {
  constructor(private readonly sealer: Sealer) {}

  /** A fresh secret, sealed. */
  create(place: Place): string {
    return this.sealer.seal(signingSecret(randomBytes(SECRET_BYTES)), dataOf(place));
  }

  open(place: Place, sealed: string): string {
    return this.sealer.open(sealed, dataOf(place));
  }
}

function dataOf({ merchant_id, endpoint_id }: Place): string {
  return `webhook_endpoint/${merchant_id}/${endpoint_id}`;
}
