import type { HDNodeVoidWallet, HDNodeWallet } from 'ethers';
import { ConfigError } from '../../../platform/config/settings.js';
import type { ProvisionedWallet, WalletProvisioner } from '../application/ports.js';
import type { IndexedKey, WalletIndexes } from '../store/wallet-indexes.js';

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
