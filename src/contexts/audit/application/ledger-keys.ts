import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { LedgerChanged } from '../domain/signed-extent.js';
import { headText, keyText, type Head, type SignedHead, type SigningKey } from '../domain/signed-head.js';
import { SigningKeys, type KeptKey } from '../store/signing-keys.js';
import { keyIdOf, newKeyPair, signText } from './signatures.js';

/** The keys that sign heads: the first is made when the ledger begins, each later one when an operator asks for it. */
@Injectable()
export class LedgerKeys {
  constructor(
    private readonly keys: SigningKeys,
    private readonly sealer: Sealer,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Signs with the newest key. */
  async sign(head: Omit<Head, 'key_id'>): Promise<SignedHead> {
    const key = await this.current();
    const named = { ...head, key_id: key.key_id };
    return { ...named, signature: signText(headText(named), this.privateKeyOf(key)) };
  }

  /** A new key, signed by the one before, which signs nothing after that. Throws `invalid_transition` before the first head. */
  async rotate(): Promise<SigningKey> {
    const keys = await this.keys.change((present) => {
      const former = present.at(-1);
      if (former === undefined)
        throw new DomainError('invalid_transition', 'There is no key yet: the ledger has not begun');
      return this.make(former);
    });
    return keys.at(-1)!;
  }

  /** Makes the first key, where there is none. */
  async begin(): Promise<void> {
    await this.keys.change((present) => (present.length > 0 ? null : this.make(null)));
  }

  /** Those that the service created, from the first on. */
  async own(): Promise<readonly SigningKey[]> {
    return (await this.keys.all()).filter((key) => isOwnKey(key, this.sealer));
  }

  private async current(): Promise<KeptKey> {
    const newest = (await this.keys.all()).at(-1);
    if (newest === undefined) throw new LedgerChanged('audit.signing_keys was emptied');
    if (isOwnKey(newest, this.sealer)) return newest;
    throw new LedgerChanged(`the key ${newest.key_id} of audit.signing_keys was not made by the service`);
  }

  private make(former: KeptKey | null): KeptKey {
    const { publicKey, privateKey } = newKeyPair();
    const key = {
      key_id: keyIdOf(publicKey),
      public_key: publicKey.toString('base64'),
      made_at: timestamp(this.clock),
      former_key_id: former?.key_id ?? null,
    };
    return {
      ...key,
      signature: former === null ? null : signText(keyText(key), this.privateKeyOf(former)),
      sealedPrivateKey: this.sealer.seal(privateKey, placeOfPrivate(key)),
      sealedPublicKey: this.sealer.seal(publicKey, placeOfPublic(key)),
    };
  }

  private privateKeyOf(key: KeptKey): Buffer {
    if (key.sealedPrivateKey === null) throw new Error(`the private key of ${key.key_id} is not kept`);
    return this.sealer.openBytes(key.sealedPrivateKey, placeOfPrivate(key));
  }
}

/** Whether a process with the master key made this row: nobody else can seal. */
export function isOwnKey(key: KeptKey, sealer: Pick<Sealer, 'openBytes'>): boolean {
  try {
    const bytes = sealer.openBytes(key.sealedPublicKey, placeOfPublic(key));
    return bytes.toString('base64') === key.public_key && keyIdOf(bytes) === key.key_id;
  } catch {
    return false;
  }
}

function placeOfPrivate({ key_id }: Pick<SigningKey, 'key_id'>): string {
  return `audit/signing-key/${key_id}`;
}

function placeOfPublic({ key_id }: Pick<SigningKey, 'key_id'>): string {
  return `audit/public-key/${key_id}`;
}
