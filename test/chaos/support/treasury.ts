import { keccak256, Wallet } from 'ethers';
import { rpc } from '../../../sandbox/chain.js';

/** A signed transfer that has not been sent. */
export interface Prepared {
  readonly to: string;
  readonly minor: number;
  readonly raw: string;
  readonly hash: string;
}

/** Sends test USDC on the dev chain from unlocked accounts, without the service. */
export class Treasury {
  /** Transfers are sent in sequence, because concurrent ones would get the same nonce from the node. */
  private last: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly rpcUrl: string,
    private readonly usdc: string,
    readonly from: string,
    private readonly chainId: number,
  ) {}

  static async of(chain: { readonly rpcUrl: string; readonly usdcAddress: string }): Promise<Treasury> {
    const [from] = (await rpc(chain.rpcUrl, 'eth_accounts', [])) as string[];
    const chainId = Number(await rpc(chain.rpcUrl, 'eth_chainId', []));
    return new Treasury(chain.rpcUrl, chain.usdcAddress, from!, chainId);
  }

  /** Resolves to the hash once the transfer of `amountMinor` minor units is mined. */
  transfer(to: string, amountMinor: number): Promise<string> {
    const transaction = { from: this.from, to: this.usdc, data: transferData(to, amountMinor) };
    const sent = this.last.then(() =>
      rpc(this.rpcUrl, 'eth_sendTransaction', [transaction]),
    ) as Promise<string>;
    this.last = sent.catch(() => undefined);
    return sent;
  }

  /** A transfer with a known hash before it is sent, from an account that sends nothing else. */
  async prepare(to: string, amountMinor: number): Promise<{ hash: string; broadcast: () => Promise<void> }> {
    const [{ raw, hash }] = (await this.rivals([to], amountMinor)) as [Prepared];
    return {
      hash,
      broadcast: async () => {
        await rpc(this.rpcUrl, 'eth_sendRawTransaction', [raw]);
      },
    };
  }

  /** Transfers with one nonce, of which the chain accepts one. `contract` is called with the amount. */
  async rivals(
    recipients: readonly string[],
    amountMinor: number,
    contract: string | null = null,
  ): Promise<readonly Prepared[]> {
    const sender = Wallet.createRandom();
    await rpc(this.rpcUrl, 'anvil_setBalance', [sender.address, '0xde0b6b3a7640000']);
    await this.transfer(sender.address, amountMinor);
    return Promise.all(
      recipients.map(async (to, n) => {
        // Different amounts, because two transfers to one wallet are two transactions.
        const minor = amountMinor - n;
        const called =
          to === contract
            ? { to, data: `0x${word(minor.toString(16))}` }
            : { to: this.usdc, data: transferData(to, minor) };
        const raw = await sender.signTransaction({
          ...called,
          type: 2,
          chainId: this.chainId,
          nonce: 0,
          gasLimit: 100_000,
          maxFeePerGas: 10_000_000_000,
          maxPriorityFeePerGas: 1,
        });
        return { to, minor, raw, hash: keccak256(raw) };
      }),
    );
  }
}

/** Call data of `transfer(address,uint256)`. */
const transferData = (to: string, amountMinor: number): string =>
  `0xa9059cbb${word(to.slice(2))}${word(amountMinor.toString(16))}`;

const word = (hex: string): string => hex.toLowerCase().padStart(64, '0');
