import type { HDNodeVoidWallet, HDNodeWallet } from 'ethers';
import { ConfigError } from '../../../platform/config/settings.js';
import type { ProvisionedWallet, WalletProvisioner } from '../application/ports.js';
import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';

/** The non-hardened chain of an account that BIP 44 gives addresses for receiving. */
const CHAIN = 0;

/** Wallets that are children of an extended public key (BIP 32): no private key is on this server (ADR 124). */
export class XpubWallets implements WalletProvisioner {
  private constructor(
    private readonly key: IndexedKey,
    private readonly indexes: WalletIndexes,
  ) {}

  /** Throws {@link ConfigError} for a key that is misspelled or private. */
  static async open(xpub: string, firstIndex: number, indexes: WalletIndexes): Promise<XpubWallets> {
    const { HDNodeVoidWallet, HDNodeWallet } = await import('ethers');
    const account = readKey(() => HDNodeWallet.fromExtendedKey(xpub));
    // ethers does not verify the checksum: the key is compared with its own encoding.
    if (account?.extendedKey !== xpub)
      throw new ConfigError('ONBOARDING_WALLET_XPUB is misspelled: its checksum is wrong.');
    if (!(account instanceof HDNodeVoidWallet))
      throw new ConfigError('ONBOARDING_WALLET_XPUB must be an extended public key; this one is private.');
    const chain = account.deriveChild(CHAIN);
    const key: IndexedKey = {
      fingerprint: account.fingerprint.slice(2),
      firstIndex,
      addressAt: (index) => chain.deriveChild(index).address,
    };
    return new XpubWallets(key, indexes);
  }

  async provision(userId: string): Promise<ProvisionedWallet> {
    const { key, index, address } = await this.indexes.of(userId, this.key);
    return { address, derivation: { key, path: `${CHAIN}/${index}`, index } };
  }

  async replace(userId: string, address: string): Promise<void> {
    await this.indexes.replace(userId, address, this.key);
  }
}

/** Null for an invalid key; the error of ethers would quote it. */
function readKey(read: () => HDNodeWallet | HDNodeVoidWallet): HDNodeWallet | HDNodeVoidWallet | null {
  try {
    return read();
  } catch {
    return null;
  }
}

interface WalletIndex {
  /** Fingerprint of the extended public key. */
  readonly key: string;
  readonly index: number;
  readonly address: string;
}

interface IndexedKey {
  readonly fingerprint: string;
  readonly firstIndex: number;
  addressAt(index: number): string;
}

interface Row extends Record<string, unknown> {
  readonly key: string;
  readonly index: string;
}

const INDEX_OF_USER = 'select key, index from onboarding.wallet_indexes where user_id = $1';

/**
 * The wallet of a user as a child of an extended public key. Addresses are derived, so that SQL cannot replace one. The row
 * of a key is locked while an index is assigned: no gaps, and no index twice.
 */
@Injectable()
export class WalletIndexes {
  constructor(private readonly database: Database) {}

  /** Assigns the next index to a user without one of `key`. */
  async of(userId: string, key: IndexedKey): Promise<WalletIndex> {
    const [row] = await this.database.query<Row>(INDEX_OF_USER, [userId]);
    const found = indexOf(row, key) ?? (await this.next(userId, key, (current) => current === null));
    return found!;
  }

  /** Assigns the next index in place of `address`, unless that was replaced already. */
  async replace(userId: string, address: string, key: IndexedKey): Promise<void> {
    await this.next(userId, key, (current) => current?.address === address);
  }

  /** The next index where `isDue`, under the lock of the key; otherwise the current one. */
  private next(
    userId: string,
    key: IndexedKey,
    isDue: (current: WalletIndex | null) => boolean,
  ): Promise<WalletIndex | null> {
    const { fingerprint, firstIndex, addressAt } = key;
    return this.database.transaction(async (tx) => {
      const { rows: keys } = await tx.query<{ next_index: string }>(
        // An update that changes nothing locks the row, too.
        `insert into onboarding.wallet_keys as kept (key, next_index) values ($1, $2)
         on conflict (key) do update set next_index = greatest(kept.next_index, excluded.next_index)
         returning next_index`,
        [fingerprint, firstIndex],
      );
      const { rows } = await tx.query<Row>(INDEX_OF_USER, [userId]);
      const current = indexOf(rows[0], key);
      if (!isDue(current)) return current;
      const index = Number(keys[0]!.next_index);
      await tx.query('update onboarding.wallet_keys set next_index = $2 where key = $1', [
        fingerprint,
        index + 1,
      ]);
      await tx.query(
        `insert into onboarding.wallet_indexes (user_id, key, index) values ($1, $2, $3)
         on conflict (user_id) do update set key = excluded.key, index = excluded.index`,
        [userId, fingerprint, index],
      );
      return { key: fingerprint, index, address: addressAt(index) };
    });
  }
}

function indexOf(row: Row | undefined, { fingerprint, addressAt }: IndexedKey): WalletIndex | null {
  if (row?.key !== fingerprint) return null;
  const index = Number(row.index);
  return { key: fingerprint, index, address: addressAt(index) };
}
