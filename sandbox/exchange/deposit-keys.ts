import { setImmediate as turn } from 'node:timers/promises';
import type { HDNodeVoidWallet, HDNodeWallet } from 'ethers';

/**
 * m/44'/60'/7'/0 of the mnemonic that every dev chain uses, where no account of the chain itself lies. Whoever wants to
 * spend what was paid in the sandbox derives the private key from the mnemonic; this service never has it.
 */
const SANDBOX_XPUB =
  'xpub6EWhM2xTATRUTwiWVsCBfpUrTjZKS8LyMhFfRqC6zSCqpkQNRDcvAutBNABUbgg1bfgV464SMpeePGLvisypZnWSmia7bAMcXq1G6oZx78C';

/** Addresses to pay to: children of an extended public key (BIP 32), which tells no private key. */
export class DepositKeys {
  private parent: HDNodeWallet | HDNodeVoidWallet | null = null;

  /** In the order of `indexes`, in the mixed case of EIP-55. A child takes about a millisecond: others get their turn after each. */
  async addressesAt(indexes: readonly number[]): Promise<readonly string[]> {
    // The first one loads ethers: a start does not wait for it.
    const { HDNodeWallet } = await import('ethers');
    this.parent ??= HDNodeWallet.fromExtendedKey(SANDBOX_XPUB);
    const addresses: string[] = [];
    for (const index of indexes) {
      addresses.push(this.parent.deriveChild(index).address);
      await turn();
    }
    return addresses;
  }
}
