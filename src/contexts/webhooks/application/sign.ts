import { Webhook } from 'standardwebhooks';

export const SECRET_BYTES = 32;

/** What is signed: `timestamp` is Unix seconds. */
export interface SignedMessage {
  readonly id: string;
  readonly timestamp: number;
  readonly body: string;
}

/** A signing secret as the merchant sees it: `whsec_` and the standard base64 of 32 random bytes. */
export function signingSecret(random: Buffer): string {
  if (random.length !== SECRET_BYTES) throw new RangeError(`a signing secret holds ${SECRET_BYTES} bytes`);
  return `whsec_${random.toString('base64')}`;
}

/** The `webhook-signature` header of one attempt (contract.md 13.3, 13.4): one `v1` entry per secret, separated by spaces. */
export function signatureHeader(secrets: readonly string[], { id, timestamp, body }: SignedMessage): string {
  const at = new Date(timestamp * 1000);
  return secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' ');
}
