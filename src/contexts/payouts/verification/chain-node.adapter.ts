import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import type { Clock } from '../../../kernel/clock.js';
import { type Block, isWord } from '../../../platform/chain/values.js';
import { JsonRpcNode } from '../../../platform/chain/json-rpc-node.js';
import type { RpcResponse } from '../../../platform/chain/rpc-responses.js';
import { blocksAt, chainHeads, rpcResult, type NodeRules } from '../../../platform/chain/node-state.js';
import type { ChainNodeState } from '../../../platform/telemetry/process-facts.js';
import { ChainUnavailable, type ChainObservation, type TransactionRequest } from './chain.ports.js';
import type { TransactionReceipt } from './verification.js';
import { readLargeTransaction, readPlace, readReceipt, readWholeReceipt } from './receipt.adapter.js';

/** The form of an EVM hash. A node rejects any other text. */
const EVM_HASH = /^0x[0-9a-f]{64}$/;
const MAX_LARGE = 10_000;
const MAX_GROUPS = 8;
const BATCH_TIMEOUT_MS = 3000;
const SEPARATE_TIMEOUT_MS = 5000;

interface ChainNodeOptions extends NodeRules {
  readonly url: string;
  readonly token: string;
}

type Receipts = Map<string, TransactionReceipt | null>;

/** One node of the chain. Methods other than {@link facts} throw {@link ChainUnavailable}. */
export class ChainNode {
  private readonly node: JsonRpcNode;
  /** The name of the node in logs, because the rest of its URL may contain credentials. */
  private readonly host: string;
  private newest: Block | null = null;
  private readonly large = new LRUCache<string, true>(upTo(MAX_LARGE));

  constructor(
    private readonly options: ChainNodeOptions,
    private readonly clock: Clock,
  ) {
    this.node = new JsonRpcNode(options.url);
    this.host = new URL(options.url).host;
  }

  async read(requested: readonly TransactionRequest[], separately: boolean): Promise<ChainObservation> {
    // The head is read first, so that a concurrent block can only lower the confirmations.
    const { head, final } = await chainHeads(this.node, this.options, this.clock);
    const { receipts, refusals } = await this.readReceipts(requested, separately);
    return { node: this.host, head, final, receipts, refusals };
  }

  /**
   * Reads transactions so reliably that outcomes may depend on the result. Two RPC methods agree on each
   * missing transaction. All receipts are in canonical blocks, and both heads are canonical afterwards.
   */
  async confirm(requested: readonly TransactionRequest[], separately: boolean): Promise<ChainObservation> {
    const { head, final } = await chainHeads(this.node, this.options, this.clock);
    const { receipts, refusals } = await this.readReceipts(requested, separately, true);
    await this.completeLarge(receipts);
    await this.doubtMissing(receipts);
    await this.keepCanonical(receipts, head);
    const now = await blocksAt(this.node, [final.number, head.number]);
    if (now.get(final.number)?.hash !== final.hash || now.get(head.number)?.hash !== head.hash) {
      throw new ChainUnavailable('the chain was reorganised during the check');
    }
    return { node: this.host, head, final, receipts, refusals };
  }

  async blockHashes(heights: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const blocks = await blocksAt(this.node, heights);
    return new Map([...blocks].map(([height, { hash }]) => [height, hash]));
  }

  /** Returns the node's facts for the admin API. Never rejects. */
  async facts(): Promise<ChainNodeState> {
    const status = await chainHeads(this.node, this.options, this.clock).then(
      ({ head }) => {
        this.newest = head;
        return 'ok' as const;
      },
      () => 'unavailable' as const,
    );
    const age = this.newest && Math.round(this.clock.now().getTime() / 1000 - this.newest.timestamp);
    return { url_host: this.host, head: this.newest?.number ?? null, head_age_seconds: age, status };
  }

  async token(): Promise<Token> {
    await chainHeads(this.node, this.options, this.clock);
    return readToken(this.node, this.options.token, this.options.chainId);
  }

  async ping(): Promise<void> {
    await chainHeads(this.node, this.options, this.clock);
  }

  async close(): Promise<void> {
    await this.node.close();
  }

  /** Reads large and refused receipts only if `separately`, because they may be slow. */
  private async readReceipts(
    requested: readonly TransactionRequest[],
    separately: boolean,
    texts = false,
  ): Promise<{ readonly receipts: Receipts; readonly refusals: readonly string[] }> {
    const receipts: Receipts = new Map();
    const refusals = new Set<string>();
    const large = requested.filter(({ hash }) => this.large.has(hash));
    if (large.length > 0 && !separately) refusals.add('a large receipt is read in a separate request');
    const others = requested.filter(({ hash }) => EVM_HASH.test(hash) && !this.large.has(hash));
    for (const { hash } of requested) if (!EVM_HASH.test(hash)) receipts.set(hash, null);
    const options = separately
      ? { batch: 1, timeoutMs: SEPARATE_TIMEOUT_MS, texts }
      : { timeoutMs: BATCH_TIMEOUT_MS, texts };
    const groups = toGroups(others);
    const calls = groups.map((group) =>
      this.node.ask(
        group.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
        options,
      ),
    );
    const inOrder = groups.flat();
    const denied: RpcResponse[] = [];
    (await Promise.all(calls)).flat().forEach((response, place) => {
      const each = inOrder[place]!;
      if ('result' in response) {
        const receipt = readReceipt(response, each.hash);
        if (receipt !== undefined) receipts.set(each.hash, receipt);
        else refusals.add('a receipt is invalid or of another transaction');
        return;
      }
      const { kind, message } = response.refused;
      refusals.add(message);
      if (kind === 'denied' || kind === 'limited') denied.push(response);
      large.push(each);
      if (kind === 'too_large') this.large.set(each.hash, true);
    });
    // The batch fails only when all are denied, so that one denied transaction does not delay the others.
    if (!separately && denied.length > 0 && denied.length === inOrder.length) rpcResult(denied[0]!);
    const readSeparately = async (each: TransactionRequest): Promise<void> => {
      const receipt = await readLargeTransaction(this.node, each, this.options.token);
      if (receipt !== undefined) receipts.set(each.hash, receipt);
    };
    if (separately) await Promise.all(large.map(readSeparately));
    return { receipts, refusals: [...refusals] };
  }

  /** Replaces partial receipts by whole receipts, because only whole receipts have the places of logs. */
  private async completeLarge(receipts: Receipts): Promise<void> {
    for (const [hash, receipt] of receipts) {
      if (receipt?.partial !== true || receipt.transfers.length === 0) continue;
      const whole = await readWholeReceipt(this.node, hash);
      if (whole === undefined) receipts.delete(hash);
      else receipts.set(hash, whole);
    }
  }

  /** Accepts a missing receipt only if eth_getTransactionByHash finds the transaction in no block. */
  private async doubtMissing(receipts: Receipts): Promise<void> {
    const missing = [...receipts].flatMap(([hash, receipt]) =>
      receipt === null && EVM_HASH.test(hash) ? [hash] : [],
    );
    const calls = missing.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] }));
    const responses = await this.node.ask(calls);
    responses.forEach((response, place) => {
      if (readPlace(response, missing[place]!) !== null) receipts.delete(missing[place]!);
    });
  }

  /** Removes receipts in blocks that are not canonical or after the head. Adds the block time to others. */
  private async keepCanonical(receipts: Receipts, head: Block): Promise<void> {
    const found = [...receipts].flatMap(([hash, receipt]) => (receipt === null ? [] : [{ hash, receipt }]));
    const blocks = await blocksAt(this.node, [...new Set(found.map(({ receipt }) => receipt.blockNumber))]);
    for (const { hash, receipt } of found) {
      const block = blocks.get(receipt.blockNumber);
      if (block?.hash !== receipt.blockHash || block.timestamp > head.timestamp) receipts.delete(hash);
      else receipts.set(hash, { ...receipt, blockTime: block.timestamp });
    }
  }
}

/** Groups requests by merchant, so that none delays another. More than MAX_GROUPS merchants share a group. */
function toGroups(requested: readonly TransactionRequest[]): readonly (readonly TransactionRequest[])[] {
  const groups = new Map<string | undefined, TransactionRequest[]>();
  for (const each of requested) {
    const group = groups.get(each.group);
    if (group === undefined) groups.set(each.group, [each]);
    else group.push(each);
  }
  return groups.size > MAX_GROUPS ? [requested] : [...groups.values()];
}

const USDC_DECIMALS = 6;
const DECIMALS = '0x313ce567';
const SYMBOL = '0x95d89b41';
const MAX_SYMBOL = 20;

interface Token {
  readonly symbol: string;
  /** The reason why the token cannot be USDC, as a sentence; null if it can. */
  readonly problem: string | null;
}

async function readToken(node: JsonRpcNode, address: string, chainId: number): Promise<Token> {
  const call = (data: string) => ({ method: 'eth_call', params: [{ to: address, data }, 'latest'] });
  const [code, decimals, symbol] = await node.ask([
    { method: 'eth_getCode', params: [address, 'latest'] },
    call(DECIMALS),
    call(SYMBOL),
  ]);
  const name = 'result' in symbol! ? symbolIn(symbol.result) : '';
  const token = (problem: string | null): Token => ({ symbol: name, problem });
  const about = `USDC_ADDRESS (${address})`;
  if (/^0x0*$/.test(String(rpcResult(code!)))) return token(`${about} is no contract on chain ${chainId}.`);
  const none = `${about} is a contract${name === '' ? '' : ` (${name})`} without decimals(): it is no token.`;
  if ('refused' in decimals! && decimals.refused.isRevert === true) return token(none);
  const value = rpcResult(decimals!);
  if (!isWord(value)) return token(none);
  return BigInt(value) === BigInt(USDC_DECIMALS)
    ? token(null)
    : token(
        `${about} is ${name === '' ? 'a token' : name} with ${BigInt(value)} decimals: USDC has ${USDC_DECIMALS}.`,
      );
}

/** Returns the printable characters of a token symbol, an ABI string or bytes32. */
function symbolIn(result: unknown): string {
  if (typeof result !== 'string') return '';
  const text = Buffer.from(result.slice(2, 1024), 'hex').toString('latin1');
  return text.replace(/[^\x21-\x7e]/g, '').slice(0, MAX_SYMBOL);
}
