import type { HDNodeVoidWallet, HDNodeWallet } from 'ethers';
import { ConfigError } from '../../../platform/config/settings.js';
import type { ProvisionedWallet, WalletProvisioner } from '../providers/providers.ports.js';
import type { Database } from '../../../platform/postgres/database.js';

/** The receiving chain of an account (BIP 44), non-hardened. */
const CHAIN = 0;

interface Row extends Record<string, unknown> {
  readonly key: string;
  readonly index: string;
}

/** Derives wallets from an extended public key (BIP 32), so the server has no private key (ADR 124). */
export class XpubWallets implements WalletProvisioner {
  private constructor(
    private readonly database: Database,
    private readonly fingerprint: string,
    private readonly firstIndex: number,
    private readonly addressAt: (index: number) => string,
  ) {}

  /** Opens the wallets of a key. Throws ConfigError on a misspelling; the setting rejects private keys. */
  static async open(xpub: string, firstIndex: number, database: Database): Promise<XpubWallets> {
    const { HDNodeWallet } = await import('ethers');
    let account: HDNodeWallet | HDNodeVoidWallet | null = null;
    try {
      account = HDNodeWallet.fromExtendedKey(xpub);
    } catch {
      // The error of ethers quotes the key, so it is dropped.
    }
    // Comparing the encodings verifies the checksum, which ethers does not.
    if (account?.extendedKey !== xpub)
      throw new ConfigError('ONBOARDING_WALLET_XPUB is misspelled: its checksum is wrong.');
    const chain = account.deriveChild(CHAIN);
    const addressAt = (index: number): string => chain.deriveChild(index).address;
    return new XpubWallets(database, account.fingerprint.slice(2), firstIndex, addressAt);
  }

  /** Derives the user's wallet. Stores the index only, because SQL could replace a stored address. */
  provision(userId: string): Promise<ProvisionedWallet> {
    return this.database.transaction(async (tx) => {
      const { rows: keys } = await tx.query<{ next_index: string }>(
        // The row lock prevents gaps and duplicate indexes. Even an update without a change locks.
        `insert into onboarding.wallet_keys as kept (key, next_index) values ($1, $2)
         on conflict (key) do update set next_index = greatest(kept.next_index, excluded.next_index)
         returning next_index`,
        [this.fingerprint, this.firstIndex],
      );
      const { rows } = await tx.query<Row>(
        'select key, index from onboarding.wallet_indexes where user_id = $1',
        [userId],
      );
      const current = this.walletAt(rows[0]);
      if (current !== null) return current;
      await tx.query('update onboarding.wallet_keys set next_index = next_index + 1 where key = $1', [
        this.fingerprint,
      ]);
      const { rows: assigned } = await tx.query<Row>(
        `insert into onboarding.wallet_indexes (user_id, key, index) values ($1, $2, $3)
         on conflict (user_id) do update set key = excluded.key, index = excluded.index returning key, index`,
        [userId, this.fingerprint, keys[0]!.next_index],
      );
      return this.walletAt(assigned[0])!;
    });
  }

  /** Returns null for an index of another key or below the first index, which may be in use elsewhere. */
  private walletAt(row: Row | undefined): ProvisionedWallet | null {
    const index = Number(row?.index);
    if (row?.key !== this.fingerprint || index < this.firstIndex) return null;
    const derivation = { key: this.fingerprint, path: `${CHAIN}/${index}`, index };
    return { address: this.addressAt(index), derivation };
  }
}
