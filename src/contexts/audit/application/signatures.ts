import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto';
import { sha256 } from '../../../kernel/sha256.js';
import { headText, keyText, type SignedHead, type SigningKey } from '../domain/signed-head.js';

/** A new Ed25519 pair: the public key as SubjectPublicKeyInfo, the private one as PKCS #8, both DER. */
export function newKeyPair(): { readonly publicKey: Buffer; readonly privateKey: Buffer } {
  return generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  });
}

export function keyIdOf(publicKey: Buffer): string {
  return sha256(publicKey).toString('hex').slice(0, 16);
}

/** In hex. `privateKey` is PKCS #8. */
export function signText(text: string, privateKey: Buffer): string {
  const key = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' });
  return sign(null, Buffer.from(text), key).toString('hex');
}

export function pemOf({ public_key }: Pick<SigningKey, 'public_key'>): string {
  return publicKeyOf(public_key).export({ type: 'spki', format: 'pem' }).toString();
}

/** Throws where the PEM text holds no Ed25519 key. */
export function keyOfPem(pem: string): Pick<SigningKey, 'key_id' | 'public_key'> {
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('not an Ed25519 key');
  const bytes = key.export({ type: 'spki', format: 'der' });
  return { key_id: keyIdOf(bytes), public_key: bytes.toString('base64') };
}

export function isSignedHead(head: SignedHead, { public_key }: Pick<SigningKey, 'public_key'>): boolean {
  return verifies(headText(head), head.signature, public_key);
}

/** Whether `former` vouches for `key`. */
export function isSignedKey(key: SigningKey, former: SigningKey): boolean {
  return (
    key.former_key_id === former.key_id &&
    key.signature !== null &&
    verifies(keyText(key), key.signature, former.public_key)
  );
}

function verifies(text: string, signature: string, publicKey: string): boolean {
  try {
    return verify(null, Buffer.from(text), publicKeyOf(publicKey), Buffer.from(signature, 'hex'));
  } catch {
    return false;
  }
}

const known = new Map<string, KeyObject>();

function publicKeyOf(base64: string): KeyObject {
  let key = known.get(base64);
  if (key === undefined) {
    key = createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' });
    if (known.size < 64) known.set(base64, key);
  }
  return key;
}
