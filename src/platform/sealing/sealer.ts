import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { upTo } from '../cache-size.js';

const VERSION = 's1';
export const SEALED_TEXT = `${VERSION}.`;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The error for a text that was changed, has other associated data, or was sealed with an unknown key. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/**
 * Seals texts with AES-256-GCM and authenticates texts with HMAC-SHA256. A sealed text is `s1.<key
 * id>.<base64url of iv, tag and ciphertext>`. The key id allows a replacement of keys.
 */
export class Sealer {
  private keys: ReadonlyMap<string, Buffer> = new Map();
  private macKeys: ReadonlyMap<string, Buffer> = new Map();
  sealsWith = '';
  private current: Buffer = Buffer.alloc(0);

  constructor(key: Buffer, others: readonly Buffer[] = []) {
    this.setKeys(key, others);
  }

  /** Seals with `key` (32 bytes) from now on, and opens texts that `others` sealed. */
  setKeys(key: Buffer, others: readonly Buffer[]): void {
    for (const each of [key, ...others]) {
      if (each.length !== 32) throw new RangeError('a sealing key must have 32 bytes');
    }
    this.current = key;
    this.sealsWith = keyId(key);
    this.keys = new Map([key, ...others].map((each) => [keyId(each), each]));
    this.macKeys = new Map([...this.keys].map(([id, each]) => [id, deriveKey(each, 'mac')]));
  }

  /** Seals a text, which opens only with the same `associatedData`. */
  seal(plaintext: string | Buffer, associatedData: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.current, iv).setAAD(
      Buffer.from(associatedData, 'utf8'),
    );
    const first = typeof plaintext === 'string' ? cipher.update(plaintext, 'utf8') : cipher.update(plaintext);
    const body = Buffer.concat([first, cipher.final()]);
    const packed = Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
    return `${VERSION}.${this.sealsWith}.${packed}`;
  }

  /** Returns `<key id>.<HMAC-SHA256 in base64url>`. `purpose` must not contain a line feed. */
  mac(purpose: string, text: string): string {
    return toMac(this.sealsWith, this.macKeys.get(this.sealsWith)!, purpose, text);
  }

  isAuthentic(purpose: string, text: string, mac: unknown): boolean {
    if (typeof mac !== 'string') return false;
    const id = mac.slice(0, mac.indexOf('.'));
    const key = this.macKeys.get(id);
    if (key === undefined) return false;
    const [given, expected] = [Buffer.from(mac), Buffer.from(toMac(id, key, purpose, text))];
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  open(sealed: string, associatedData: string): string {
    return this.openBytes(sealed, associatedData).toString('utf8');
  }

  /** Opens a sealed text. Throws SealError if the text, the key or `associatedData` is wrong. */
  openBytes(sealed: string, associatedData: string): Buffer {
    const [version, id, packed, ...rest] = sealed.split('.');
    const key = id === undefined ? undefined : this.keys.get(id);
    if (version !== VERSION || packed === undefined || rest.length > 0)
      throw new SealError('not a sealed text');
    if (key === undefined) throw new SealError('the text was sealed with an unknown key');
    const bytes = Buffer.from(packed, 'base64url');
    if (bytes.length < IV_BYTES + TAG_BYTES) throw new SealError('not a sealed text');
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
      .setAAD(Buffer.from(associatedData, 'utf8'))
      .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
    } catch {
      throw new SealError('the sealed text was changed or belongs elsewhere');
    }
  }
}

function toMac(id: string, key: Buffer, purpose: string, text: string): string {
  return `${id}.${createHmac('sha256', key).update(`${purpose}\n${text}`).digest('base64url')}`;
}

/** Derives a key for another purpose. The derived key does not reveal `key`. */
export function deriveKey(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `disburse/${purpose}`, 32));
}

/** Returns the id of a key. The id does not reveal the key. */
export function keyId(key: Buffer): string {
  return createHash('sha256').update('disburse/key-id').update(key).digest('hex').slice(0, 8);
}

/** The maximum number of cached secrets: two for each key that a directory caches. */
const MAX_OPENED = 20_000;

/** Seals secrets, and caches opened ones to avoid a decryption on every request. */
export class SealedSecrets {
  private readonly opened = new LRUCache<string, string>(upTo(MAX_OPENED));

  constructor(private readonly sealer: Sealer) {}

  seal(associatedData: string, secret: string): string {
    return this.sealer.seal(secret, associatedData);
  }

  /** Opens a secret. Throws SealError for other associated data, even if the secret is cached. */
  open(associatedData: string, sealed: string): string {
    const name = `${associatedData} ${sealed}`;
    const known = this.opened.get(name);
    if (known !== undefined) return known;
    const secret = this.sealer.open(sealed, associatedData);
    this.opened.set(name, secret);
    return secret;
  }
}
