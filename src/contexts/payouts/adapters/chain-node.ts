import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import type { Clock } from '../../../kernel/clock.js';
import { type Block, isWord } from '../../../platform/chain/values.js';
import { JsonRpcNode } from '../../../platform/chain/json-rpc-node.js';
import type { RpcResponse } from '../../../platform/chain/rpc-responses.js';
import { blocksAt, chainHeads, rpcResult, type NodeRules } from '../../../platform/chain/node-state.js';
import type { ChainNodeState } from '../../../platform/telemetry/process-facts.js';
import { ChainUnavailable, type ChainObservation, type TransactionRequest } from '../application/ports.js';
import type { TransactionReceipt } from '../domain/verification.js';
import { readKept, readLargeTransaction, readPlace, readWholeReceipt } from './receipt.js';

/** A hash that no EVM chain can have; asking a node for it would be an error instead of "no such transaction". */
const EVM_HASH = /^0x[0-9a-f]{64}$/;
const MAX_LARGE = 10_000;
const MAX_GROUPS = 8;
/** The timeout of a batch, which a slow transaction delays. A transaction requested separately may take longer. */
const BATCH_TIMEOUT_MS = 3000;
const SEPARATE_TIMEOUT_MS = 5000;

interface ChainNodeOptions extends NodeRules {
  readonly url: string;
  readonly token: string;
}

type Receipts = Map<string, TransactionReceipt | null>;

export class ChainNode {
  private readonly node: JsonRpcNode;
  /** The rest of its URL may hold credentials. */
  private readonly host: string;
  /** The head that {@link facts} read last. */
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
    // The head first: a block that comes meanwhile can only make a transfer less confirmed than it is.
    const { head, final } = await chainHeads(this.node, this.options, this.clock);
    const receipts: Receipts = new Map();
    const refusals = await this.readReceipts(requested, separately, receipts);
    return { node: this.host, head, final, receipts, refusals };
  }

  /**
   * An observation that outcomes may rest on: nothing of it is remembered from before, what is missing is missing in two ways,
   * each receipt is of the block that the chain has at its height, and both heads are still on the chain afterwards.
   * Receipts come with the time of their block.
   */
  async confirm(requested: readonly TransactionRequest[], separately: boolean): Promise<ChainObservation> {
    const { head, final } = await chainHeads(this.node, this.options, this.clock);
    const receipts: Receipts = new Map();
    const refusals = await this.readReceipts(requested, separately, receipts, true);
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
    const { host } = new URL(this.options.url);
    return { url_host: host, head: this.newest?.number ?? null, head_age_seconds: age, status };
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

  /**
   * Puts into `receipts` what the node says of each; a hash without a usable response is left out. So is one whose
   * receipt is large or refused, unless it is requested separately: reading these takes as long as the node likes.
   */
  private async readReceipts(
    requested: readonly TransactionRequest[],
    separately: boolean,
    receipts: Receipts,
    texts = false,
  ): Promise<readonly string[]> {
    const refusals = new Set<string>();
    const large = requested.filter(({ hash }) => this.large.has(hash));
    if (large.length > 0 && !separately) refusals.add('large receipts are read alone');
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
        const receipt = readKept(response, each.hash);
        if (receipt !== undefined) receipts.set(each.hash, receipt);
        else refusals.add('a receipt that is none of the transaction');
        return;
      }
      const { kind, message } = response.refused;
      refusals.add(message);
      if (kind === 'denied' || kind === 'limited') denied.push(response);
      large.push(each);
      if (kind === 'too_large') this.large.set(each.hash, true);
    });
    // One transaction that is always denied must not delay the others.
    if (!separately && denied.length > 0 && denied.length === inOrder.length) rpcResult(denied[0]!);
    if (!separately) return [...refusals];
    await Promise.all(
      large.map(async (each) => {
        const receipt = await readLargeTransaction(this.node, each, this.options.token);
        if (receipt !== undefined) receipts.set(each.hash, receipt);
      }),
    );
    return [...refusals];
  }

  /** A transfer to one of our wallets is worth the bytes: which log confirms a payout follows from their places. */
  private async completeLarge(receipts: Receipts): Promise<void> {
    for (const [hash, receipt] of receipts) {
      if (receipt?.partial !== true || receipt.transfers.length === 0) continue;
      const whole = await readWholeReceipt(this.node, hash);
      if (whole === undefined) receipts.delete(hash);
      else receipts.set(hash, whole);
    }
  }

  /** Takes out what one call says is missing and another does not. */
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

  /** Takes out receipts of blocks that are not on the chain or claim to be of the future, and gives the others the time of their block. */
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

/** Few merchants get batches of their own, so that what slows one batch down is none of the others' business. */
function toGroups(requested: readonly TransactionRequest[]): readonly (readonly TransactionRequest[])[] {
  const groups = new Map<string | undefined, TransactionRequest[]>();
  for (const each of requested) {
    const group = groups.get(each.group);
    if (group === undefined) groups.set(each.group, [each]);
    else group.push(each);
  }
  return groups.size > MAX_GROUPS ? [requested] : [...groups.values()];
}

/** Amounts of payouts have so many. */
const USDC_DECIMALS = 6;
const DECIMALS = '0x313ce567';
const SYMBOL = '0x95d89b41';
const MAX_SYMBOL = 20;

interface Token {
  readonly symbol: string;
  /** The reason why it cannot be USDC, as a sentence, or null. */
  readonly problem: string | null;
}

/** The contract of USDC_ADDRESS, as a node has it. Throws ChainUnavailable when the node does not have it. */
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

/** The printable characters of a string or of 32 bytes, however the contract encodes them. */
function symbolIn(result: unknown): string {
  if (typeof result !== 'string') return '';
  const text = Buffer.from(result.slice(2, 1024), 'hex').toString('latin1');
  return text.replace(/[^\x21-\x7e]/g, '').slice(0, MAX_SYMBOL);
}
