import { randomBytes } from 'node:crypto';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { KeyRing } from '../../../platform/sealing/key-ring.js';
import { SealedSecrets, Sealer } from '../../../platform/sealing/sealer.js';
import { Webhook } from 'standardwebhooks';
import type { Endpoint, EndpointRef } from './webhook-endpoints.js';

/** The immutable part of a delivery. */
export interface NewDelivery extends EndpointRef {
  readonly delivery_id: string;
  readonly type: string;
  readonly is_test: boolean;
  readonly body: string;
}

export type DeliveryWithMac = NewDelivery & { readonly mac: string | null };

const DELIVERY = 'delivery';
const SECRET_BYTES = 32;

/** Creates, seals and uses signing secrets. A sealed secret can only be opened for its endpoint. */
@Injectable()
export class SigningSecrets {
  private readonly secrets: SealedSecrets;

  constructor(
    private readonly sealer: Sealer,
    @Optional() @Inject(KeyRing) private readonly ring: Pick<KeyRing, 'refresh'> | null = null,
  ) {
    this.secrets = new SealedSecrets(sealer);
  }

  /** Returns a sealed new secret: `whsec_` and the standard base64 of 32 random bytes. */
  create(place: EndpointRef): string {
    return this.secrets.seal(
      toAssociatedData(place),
      `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`,
    );
  }

  /** Returns the `webhook-signature` header, signed with all secrets that are valid at `at`, newest first. */
  sign(
    place: EndpointRef,
    endpoint: Pick<Endpoint, 'sealed_signing_secret' | 'former_secrets'>,
    at: Date,
    message: SignedMessage,
  ): string {
    const valid = endpoint.former_secrets.filter(({ expires_at }) => Date.parse(expires_at) > at.getTime());
    const sealed = [endpoint.sealed_signing_secret, ...valid.map((former) => former.sealed)];
    const secrets = sealed.map((each) => this.open(place, each));
    return signatureHeader(secrets, message);
  }

  /** Returns the MAC of a new delivery. Only deliveries with a valid MAC are signed and sent. */
  toMac(delivery: NewDelivery): string {
    return this.sealer.mac(DELIVERY, toText(delivery));
  }

  /** Checks the MAC of a delivery. A mismatch refreshes the key ring, because a key may be new. */
  async isAuthentic(delivery: DeliveryWithMac): Promise<boolean> {
    const isValid = (): boolean => isAuthenticDelivery(this.sealer, delivery);
    if (isValid()) return true;
    await this.ring?.refresh();
    return isValid();
  }

  /** Unseals a secret. Throws SealError for the secret of another endpoint. */
  open(place: EndpointRef, sealed: string): string {
    return this.secrets.open(toAssociatedData(place), sealed);
  }
}

export function isAuthenticDelivery(sealer: Pick<Sealer, 'isAuthentic'>, delivery: DeliveryWithMac): boolean {
  return sealer.isAuthentic(DELIVERY, toText(delivery), delivery.mac);
}

function toText({ delivery_id, endpoint_id, merchant_id, type, is_test, body }: NewDelivery): string {
  return `${JSON.stringify([delivery_id, endpoint_id, merchant_id, type, is_test])}\n${body}`;
}

function toAssociatedData({ merchant_id, endpoint_id }: EndpointRef): string {
  return `webhook_endpoint/${merchant_id}/${endpoint_id}`;
}

/** The message to sign; `timestamp` is Unix seconds. */
interface SignedMessage {
  readonly id: string;
  readonly timestamp: number;
  readonly body: string;
}

/** Returns the `webhook-signature` header with one entry per secret (contract.md 13.3, 13.4). */
export function signatureHeader(secrets: readonly string[], { id, timestamp, body }: SignedMessage): string {
  const at = new Date(timestamp * 1000);
  return secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' ');
}
