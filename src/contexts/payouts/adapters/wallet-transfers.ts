import type { Clock } from '../../../kernel/clock.js';
import { JsonRpcNode } from '../../../platform/chain/json-rpc-node.js';
import { waitForRetry } from '../../../platform/background/backoff.js';
import { chainHeads, rpcResult, type NodeRules } from '../../../platform/chain/node-state.js';
import { isKind, type RpcResponse } from '../../../platform/chain/rpc-responses.js';
import { quantity, TRANSFER_TOPIC } from '../../../platform/chain/values.js';
import { ChainUnavailable } from '../application/ports.js';
import { readTransferLogs, type TransferOfTransaction } from './receipt.js';

/** In one call: nodes bound the response, and what they search. */
const MAX_WALLETS = 500;
const MAX_BLOCKS = 1000;
const TIMEOUT_MS = 30_000;
/** How often a node that limits the rate is requested again, after its own pause. */
const RETRIES = 6;
const BETWEEN = { firstMs: 2000, maxMs: 20_000 };
const MAX_BYTES = 33_554_432;

interface WalletTransfersOptions extends NodeRules {
  readonly url: string;
  readonly token: string;
}

/** Transfers of the token to wallets, as one node lists them: for operators, no outcome rests on it. */
export class WalletTransfers {
  private readonly node: JsonRpcNode;

  constructor(
    private readonly options: WalletTransfersOptions,
    private readonly clock: Clock,
  ) {
    this.node = new JsonRpcNode(options.url);
  }

  /** The newest block that is final. Throws {@link ChainUnavailable}, as {@link read}. */
  async finalBlock(): Promise<number> {
    return (await chainHeads(this.node, this.options, this.clock)).final.number;
  }

  /** In the blocks from `from` to `to`, both included, some at a time. */
  async *read(
    wallets: readonly string[],
    from: number,
    to: number,
  ): AsyncGenerator<readonly TransferOfTransaction[]> {
    for (let block = from; block <= to; block += MAX_BLOCKS) {
      for (let place = 0; place < wallets.length; place += MAX_WALLETS) {
        const some = wallets.slice(place, place + MAX_WALLETS);
        yield* this.readBlocks(some, block, Math.min(to, block + MAX_BLOCKS - 1));
      }
    }
  }

  async close(): Promise<void> {
    await this.node.close();
  }

  /** What a node refuses for many blocks, it is requested for half of them. */
  private async *readBlocks(
    wallets: readonly string[],
    from: number,
    to: number,
  ): AsyncGenerator<readonly TransferOfTransaction[]> {
    let response = await this.logs(wallets, from, to);
    for (let retry = 0; retry < RETRIES && isKind(response, 'limited'); retry += 1) {
      await waitForRetry(BETWEEN, retry);
      response = await this.logs(wallets, from, to);
    }
    // Halves of it would multiply the load.
    if (isKind(response, 'limited')) rpcResult(response);
    const transfers = 'result' in response ? readTransferLogs(response.result) : undefined;
    if (transfers !== undefined) {
      const { token } = this.options;
      // A transfer of nothing can be no payout.
      yield transfers.filter(
        ({ token: of, to, amountMinor }) =>
          of === token.toLowerCase() && wallets.includes(to) && amountMinor > 0n,
      );
      return;
    }
    const why = 'refused' in response ? response.refused.message : 'no list of logs';
    if (from === to) throw new ChainUnavailable(`the node lists no transfers of block ${from}: ${why}`);
    const middle = Math.floor((from + to) / 2);
    yield* this.readBlocks(wallets, from, middle);
    yield* this.readBlocks(wallets, middle + 1, to);
  }

  private async logs(wallets: readonly string[], from: number, to: number): Promise<RpcResponse> {
    const recipients = wallets.map((wallet) => `0x${wallet.slice(2).padStart(64, '0')}`);
    const filter = {
      fromBlock: quantity(from),
      toBlock: quantity(to),
      address: this.options.token,
      topics: [TRANSFER_TOPIC, null, recipients],
    };
    const options = { batch: 1, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
    const [response] = await this.node.ask([{ method: 'eth_getLogs', params: [filter] }], options);
    return response!;
  }
}
