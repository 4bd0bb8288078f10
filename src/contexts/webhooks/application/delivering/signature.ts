import { createHmac } from 'node:crypto';

export const SECRET_PREFIX = 'whsec_';
export const SECRET_BYTES = 32;

/** A signing secret as the merchant sees it: `whsec_` and the standard base64 of 32 random bytes. */
export function signingSecret(random: Buffer): string {
  if (random.length !== SECRET_BYTES) throw new RangeError(`a signing secret holds ${SECRET_BYTES} bytes`);
  return SECRET_PREFIX + random.toString('base64');
}

/**
 * The `webhook-signature` header of one attempt (contract.md 13.3, 13.4): one `v1` entry per secret,
 * separated by spaces. `timestamp` is Unix seconds.
 */
export function signatureHeader(
  secrets: readonly string[],
  message: { readonly id: string; readonly timestamp: number; readonly body: string },
): string {
  const toSign = `${message.id}.${message.timestamp}.${message.body}`;
  return secrets.map((secret) => `v1,${digest(secret, toSign)}`).join(' ');
}

function digest(secret: string, toSign: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return createHmac('sha256', key).update(toSign, 'utf8').digest('base64');
}
