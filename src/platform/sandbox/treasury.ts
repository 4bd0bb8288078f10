import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Interface, JsonRpcProvider, type BaseWallet } from 'ethers';
import { DomainError } from '../../kernel/domain-error.js';
import { CONFIG, type Config } from '../config/config.js';
import { treasuryWallet } from './usdc.js';

const TOKEN = new Interface(['function transfer(address to, uint256 amount) returns (bool)']);

const NONCE_TROUBLE = new Set(['NONCE_EXPIRED', 'REPLACEMENT_UNDERPRICED', 'TRANSACTION_REPLACED']);

/** Gas is play money: prices that no dev chain reaches, instead of two more questions to the node per transfer. */
const FEES = { gasLimit: 100_000n, maxFeePerGas: 500_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

/** Sends the test USDC of the sandbox, so that a payout can be tried without a wallet at hand. */
@Injectable()
export class Treasury implements OnApplicationShutdown {
  private readonly provider: JsonRpcProvider;
  private readonly wallet: BaseWallet;
  private readonly token: string;
  private last: Promise<unknown> = Promise.resolve();

  constructor(@Inject(CONFIG) config: Config) {
    if (config.chainRpcUrl === null || config.usdcAddress === null)
      throw new Error('the chain is not configured');
    this.provider = new JsonRpcProvider(config.chainRpcUrl, config.chainId, {
      staticNetwork: true,
      cacheTimeout: -1,
    });
    this.wallet = treasuryWallet().connect(this.provider);
    this.token = config.usdcAddress;
  }

  /** Broadcasts a transfer of `amount` minor units and answers its hash. Throws `unavailable` when the node refuses. */
  transfer(to: string, amount: bigint): Promise<string> {
    // One after the other: the nonces of an account must follow each other without a gap.
    const sent = this.last.then(() => this.broadcast(to, amount));
    this.last = sent.catch(() => undefined);
    return sent;
  }

  onApplicationShutdown(): void {
    this.provider.destroy();
  }

  private async broadcast(to: string, amount: bigint): Promise<string> {
    const data = TOKEN.encodeFunctionData('transfer', [to, amount]);
    for (let attempt = 1; ; attempt += 1) {
      try {
        const nonce = await this.provider.getTransactionCount(this.wallet.address, 'pending');
        const { hash } = await this.wallet.sendTransaction({ ...FEES, to: this.token, data, nonce });
        return hash;
      } catch (error) {
        // Another process of the service sent from the same account in between.
        const again = NONCE_TROUBLE.has((error as { code?: string }).code ?? '') && attempt < 20;
        if (!again) throw new DomainError('unavailable', 'The chain did not take the transfer');
      }
    }
  }
}
