import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Interface, JsonRpcProvider, Wallet } from 'ethers';
import type { TestMoney } from '../src/contexts/exchange/providers/exchange-provider.ports.js';
import { DomainError } from '../src/kernel/domain-error.js';
import { chainConfig, type ChainConfig } from '../src/platform/config/config.js';
import { urlsIn } from '../src/platform/config/settings.js';
import { TREASURY } from './usdc.js';

const TRANSFER = 'function transfer(address to, uint256 amount) returns (bool)';

const NONCE_TROUBLE = new Set(['NONCE_EXPIRED', 'REPLACEMENT_UNDERPRICED', 'TRANSACTION_REPLACED']);

/** Fixed gas prices above those of any dev chain. They save two requests to the node per transfer. */
const FEES = { gasLimit: 100_000n, maxFeePerGas: 500_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

interface Account {
  readonly provider: JsonRpcProvider;
  readonly wallet: Wallet;
  readonly token: Interface;
}

/** Sends the sandbox's test USDC, so that a payout can be tested without a wallet. */
@Injectable()
export class Treasury implements TestMoney, OnApplicationShutdown {
  private readonly rpcUrl: string;
  private readonly usdc: string;
  private opened: Promise<Account> | null = null;
  private last: Promise<unknown> = Promise.resolve();

  constructor(@Inject(chainConfig.KEY) private readonly config: ChainConfig) {
    if (config.chainRpcUrl === null || config.usdcAddress === null)
      throw new Error('the chain is not configured');
    this.rpcUrl = urlsIn(config.chainRpcUrl)[0]!;
    this.usdc = config.usdcAddress;
  }

  /** Broadcasts a transfer in minor units and returns its hash. Throws `unavailable` if the node refuses. */
  transfer(to: string, amount: bigint): Promise<string> {
    // Transfers are sequential, because the nonces of an account must have no gap.
    const sent = this.last.then(() => this.broadcast(to, amount));
    this.last = sent.catch(() => undefined);
    return sent;
  }

  async onApplicationShutdown(): Promise<void> {
    const account = await this.opened?.catch(() => null);
    account?.provider.destroy();
  }

  /** Opens the account. Only the first transfer loads ethers, to keep the start fast. */
  private account(): Promise<Account> {
    this.opened ??= import('ethers').then(({ Interface, JsonRpcProvider, Wallet }) => {
      const options = { staticNetwork: true, cacheTimeout: -1 };
      const provider = new JsonRpcProvider(this.rpcUrl, this.config.chainId, options);
      const wallet = new Wallet(TREASURY.privateKey, provider);
      return { provider, wallet, token: new Interface([TRANSFER]) };
    });
    return this.opened;
  }

  private async broadcast(to: string, amount: bigint): Promise<string> {
    const { provider, wallet, token } = await this.account();
    const data = token.encodeFunctionData('transfer', [to, amount]);
    for (let attempt = 1; ; attempt += 1) {
      try {
        const nonce = await provider.getTransactionCount(wallet.address, 'pending');
        const { hash } = await wallet.sendTransaction({ ...FEES, to: this.usdc, data, nonce });
        return hash;
      } catch (error) {
        // Another process of the service sent from the same account meanwhile.
        const again = NONCE_TROUBLE.has((error as { code?: string }).code ?? '') && attempt < 20;
        if (!again) throw new DomainError('unavailable', 'The chain did not accept the transfer');
      }
    }
  }
}
