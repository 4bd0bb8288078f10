import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { isAmount, toMinorUnits } from '../../../kernel/money.js';
import { ChainUnavailable } from '../../../platform/chain/chain-unavailable.js';
import { JsonRpcNode } from '../../../platform/chain/json-rpc-node.js';
import { resultOf } from '../../../platform/chain/node-state.js';
import { isWord, TRANSFER_TOPIC } from '../../../platform/chain/values.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { urlsIn } from '../../../platform/config/settings.js';
import type { RefundTransfers } from '../application/ports.js';
import type { MadeOrder } from '../domain/order.js';
import { currencyOf, pairOf } from '../domain/tokens.js';
import { DEV_CHAIN_ID } from '../settings.js';

/** By EIP-155 id, of the chains that deposits of USDC come on. */
const CHAINS: ReadonlyMap<number, string> = new Map([
  [1, 'ethereum'],
  [8453, 'base'],
  [137, 'polygon'],
]);
/** Deposits whose payers are looked up. */
const MAX_DEPOSITS = 100;

interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly amountMinor: bigint;
}

/** Refunds of USDC on the chain of CHAIN_RPC_URL. */
@Injectable()
export class ChainRefundTransfers implements RefundTransfers, OnApplicationShutdown {
  private readonly node: JsonRpcNode | null;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'chainId' | 'chainRpcUrl' | 'usdcAddress'>,
  ) {
    this.node = config.chainRpcUrl === null ? null : new JsonRpcNode(urlsIn(config.chainRpcUrl)[0]!);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.node?.close();
  }

  async check(
    order: MadeOrder,
    {
      amount,
      transactionHash,
      recipient,
    }: { readonly amount: string; readonly transactionHash: string; readonly recipient: string | null },
  ): Promise<string | null> {
    const { facts, deposits, lateDeposits } = order;
    const { node } = this;
    if (node === null || !this.isOnChain(facts))
      return `no node knows ${currencyOf(facts.pair_id)}: the transfer was not checked`;
    if (!isAmount(amount)) throw refused('USDC has at most 6 decimals');
    const transfers = await this.transfers(node, transactionHash);
    if (transfers === null) throw refused('The chain has no such transaction, or it failed');
    const paid = [...deposits, ...lateDeposits].slice(-MAX_DEPOSITS).map((each) => each.transaction_hash);
    const recipients =
      recipient === null ? await this.payers(node, facts.deposit_address, paid) : [recipient.toLowerCase()];
    const minor = toMinorUnits(amount);
    if (!transfers.some((each) => each.amountMinor === minor && recipients.includes(each.to)))
      throw refused(
        `The transaction holds no transfer of ${amount} ${currencyOf(facts.pair_id)} to ${recipient ?? 'an address that paid the order (name another one with --to)'}`,
      );
    return null;
  }

  private isOnChain({ provider, pair_id }: MadeOrder['facts']): boolean {
    const { chainId, usdcAddress } = this.config;
    const { token, chain } = pairOf(pair_id)!.from;
    if (usdcAddress === null || token !== 'usdc') return false;
    return chainId === DEV_CHAIN_ID ? provider === 'sandbox' : CHAINS.get(chainId) === chain;
  }

  private async payers(
    node: JsonRpcNode,
    depositAddress: string,
    hashes: readonly string[],
  ): Promise<string[]> {
    const all = await Promise.all(hashes.map((hash) => this.transfers(node, hash)));
    const to = depositAddress.toLowerCase();
    return all.flatMap((transfers) =>
      (transfers ?? []).filter((each) => each.to === to).map(({ from }) => from),
    );
  }

  /** Of the token; null for a transaction that is in no block, or failed. */
  private async transfers(node: JsonRpcNode, hash: string): Promise<readonly Transfer[] | null> {
    const [response] = await node.ask([{ method: 'eth_getTransactionReceipt', params: [hash] }]);
    const receipt = known(() => resultOf(response!)) as {
      readonly status?: unknown;
      readonly logs?: unknown;
    } | null;
    if (receipt === null || receipt.status !== '0x1' || !Array.isArray(receipt.logs)) return null;
    return receipt.logs.flatMap((log: { address?: unknown; topics?: unknown; data?: unknown }) => {
      const { address, topics, data } = log;
      if (String(address).toLowerCase() !== this.config.usdcAddress!.toLowerCase()) return [];
      if (!Array.isArray(topics) || topics.length !== 3 || !topics.every(isWord) || !isWord(data)) return [];
      if (topics[0]!.toLowerCase() !== TRANSFER_TOPIC) return [];
      const [from, to] = topics.slice(1).map((word) => `0x${word.slice(-40).toLowerCase()}`);
      return [{ from: from!, to: to!, amountMinor: BigInt(data) }];
    });
  }
}

function known<T>(ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    if (error instanceof ChainUnavailable) throw new DomainError('unavailable', error.message);
    throw error;
  }
}

function refused(message: string): DomainError {
  return new DomainError('invalid_transition', message);
}
