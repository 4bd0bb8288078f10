import { sha256 } from '../../../kernel/sha256.js';
import { canonicalJson } from './event-leaf.js';

/** The statement of a signed head about the first `size` events of a log. */
export interface Head {
  readonly log_id: string;
  readonly size: number;
  /** The root of the Merkle tree over the first `size` events, in hex. */
  readonly root: string;
  /** The position of the last event that the head covers. */
  readonly position: string;
  readonly signed_at: string;
  readonly key_id: string;
  /** The {@link hashOfHead} of the head before this one, in hex; null for the first head. */
  readonly previous: string | null;
}

export interface SignedHead extends Head {
  /** The Ed25519 signature over {@link headText}, in hex. */
  readonly signature: string;
}

/** A key that signs heads. Each key except the first is signed by the key before it. */
export interface SigningKey {
  /** The first 16 hex digits of the SHA-256 of `public_key`. */
  readonly key_id: string;
  /** The DER (SubjectPublicKeyInfo) in base64, as between the first and last line of a PEM file. */
  readonly public_key: string;
  readonly made_at: string;
  readonly former_key_id: string | null;
  /** The Ed25519 signature of the former key over {@link keyText}, in hex; null for the first key. */
  readonly signature: string | null;
}

/** Throws TypeError for a member of a wrong type. `types` lists `typeof` words or `null` for each member. */
export function requireTypes(value: unknown, types: Readonly<Record<string, string>>): void {
  const members = (value ?? {}) as Readonly<Record<string, unknown>>;
  for (const [name, allowed] of Object.entries(types)) {
    const type = members[name] === null ? 'null' : typeof members[name];
    if (!allowed.split(' ').includes(type)) throw new TypeError(`${name} is ${type}, expected ${allowed}`);
  }
}

const TEXT = 'string';
const HEAD = { log_id: TEXT, root: TEXT, position: TEXT, signed_at: TEXT, key_id: TEXT, signature: TEXT };
const KEY = { key_id: TEXT, public_key: TEXT, made_at: TEXT };

/** Reads the members of a head and drops all others. Throws TypeError for an invalid head. */
export function readHead(value: unknown): SignedHead {
  requireTypes(value, { ...HEAD, previous: 'string null' });
  const { log_id, size, root, position, signed_at, key_id, previous, signature } = value as SignedHead;
  if (!Number.isSafeInteger(size) || size < 1) throw new TypeError('size must be a positive integer');
  return { log_id, size, root, position, signed_at, key_id, previous, signature };
}

/** Reads a key without other members, such as a sealed private key. Throws TypeError for an invalid key. */
export function readKey(value: unknown): SigningKey {
  requireTypes(value, { ...KEY, former_key_id: 'string null', signature: 'string null' });
  const { key_id, public_key, made_at, former_key_id, signature } = value as SigningKey;
  return { key_id, public_key, made_at, former_key_id, signature };
}

/** The text that the signature of a head covers. It excludes other members, such as `public_key`. */
export function headText({ log_id, size, root, position, signed_at, key_id, previous }: Head): string {
  const signed = { kind: 'disburse.head.v1', log_id, size, root, position, signed_at, key_id, previous };
  return canonicalJson(signed);
}

/** The hash that the next head contains: SHA-256 over signed text, line feed and hex signature. */
export function hashOfHead(head: SignedHead): string {
  return sha256(`${headText(head)}\n${head.signature}`).toString('hex');
}

export function toTree({ size, root }: Head): { readonly size: number; readonly root: Buffer } {
  return { size, root: Buffer.from(root, 'hex') };
}

export function keyText(key: Omit<SigningKey, 'signature'>): string {
  const { key_id, public_key, made_at, former_key_id } = key;
  return canonicalJson({ kind: 'disburse.key.v1', key_id, public_key, made_at, former_key_id });
}

/** The error for changed ledger tables. Follower and signer stop, so that nothing is added or signed. */
export class LedgerTampered extends Error {
  override readonly name = 'LedgerTampered';
}

export interface HeadExtent {
  readonly size: number;
  readonly hash: string;
}
