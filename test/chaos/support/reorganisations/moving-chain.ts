import { eventually } from '../../../../bench/support/wait.js';
import { rpc } from '../../../../sandbox/chain.js';
import type { Prepared } from '../treasury.js';
import { between, oneOf } from '../suite.js';
import type { Tally } from '../verdict.js';

/** A chain whose newest blocks are replaced by random others. */
export class MovingChain {
  private base = 0;

  constructor(
    private readonly rpcUrl: string,
    private readonly confirmations: number,
    /** Counts the fates of transactions in replaced blocks. */
    private readonly tally: Tally,
  ) {}

  /** Blocks up to now are never replaced. */
  async begin(): Promise<void> {
    this.base = await this.height();
  }

  /** Waits until all blocks up to now are confirmed. */
  async settle(): Promise<void> {
    await rpc(this.rpcUrl, 'anvil_mine', [`0x${this.confirmations.toString(16)}`]);
  }

  /**
   * Replaces at most `deepest` blocks. Each of `rivals` are transactions of one sender, who sends one of them. anvil
   * forgets the code of contracts when it returns to a state that it moved to the disk after some hundred blocks, so
   * that the code of `contracts` is restored.
   */
  async reorganise(
    rivals: readonly (readonly Prepared[])[],
    deepest: number,
    contracts: readonly string[],
  ): Promise<void> {
    const codes = await Promise.all(contracts.map((each) => this.code(each)));
    for (let n = Math.floor(between(0, 4)); n > 0; n -= 1) await this.send(oneOf(oneOf(rivals)).raw);
    // The node mines accepted transactions with a delay, and leaves a gap if that meets a reorganisation.
    await eventually('everything sent is mined', async () => (await this.pending()) === 0, 10_000, 5);
    const height = await this.height();
    const depth = Math.floor(between(1, Math.min(deepest, height - this.base) + 1));
    if (height === this.base) return void (await rpc(this.rpcUrl, 'anvil_mine', ['0x1']));
    const again: (readonly [raw: string, block: number])[] = [];
    for (const [transactions, hash] of await this.mined(rivals, height - depth + 1, height)) {
      const fate = oneOf(['dropped', 'moved', 'moved', 'replaced'] as const);
      this.tally.add(fate);
      if (fate === 'dropped') continue;
      const chosen = transactions.find((each) => (each.hash === hash) === (fate === 'moved'));
      if (chosen !== undefined) again.push([chosen.raw, Math.floor(between(0, depth))]);
    }
    await rpc(this.rpcUrl, 'anvil_reorg', [depth, again]);
    for (const [place, contract] of contracts.entries())
      if ((await this.code(contract)) === '0x')
        await rpc(this.rpcUrl, 'anvil_setCode', [contract, codes[place]]);
    if (Math.random() < 0.5) await rpc(this.rpcUrl, 'anvil_mine', ['0x1']);
  }

  private async mined(
    rivals: readonly (readonly Prepared[])[],
    from: number,
    to: number,
  ): Promise<readonly (readonly [rivals: readonly Prepared[], hash: string])[]> {
    const mined: (readonly [rivals: readonly Prepared[], hash: string])[] = [];
    for (let number = from; number <= to; number += 1) {
      const at = `0x${number.toString(16)}`;
      const { transactions } = (await rpc(this.rpcUrl, 'eth_getBlockByNumber', [at, false])) as {
        transactions: string[];
      };
      for (const hash of transactions) {
        const sender = rivals.find((each) => each.some((transaction) => transaction.hash === hash));
        if (sender !== undefined) mined.push([sender, hash]);
      }
    }
    return mined;
  }

  /** The chain refuses a transaction that its sender has replaced. */
  private async send(raw: string): Promise<void> {
    await rpc(this.rpcUrl, 'eth_sendRawTransaction', [raw]).catch(() => undefined);
  }

  private code(address: string): Promise<unknown> {
    return rpc(this.rpcUrl, 'eth_getCode', [address, 'latest']);
  }

  private async pending(): Promise<number> {
    const { pending } = (await rpc(this.rpcUrl, 'txpool_status', [])) as { pending: string };
    return Number(pending);
  }

  private async height(): Promise<number> {
    return Number(await rpc(this.rpcUrl, 'eth_blockNumber', []));
  }
}
