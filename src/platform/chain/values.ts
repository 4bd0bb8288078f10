import { NotReady } from '../telemetry/health.js';

const HEX = /^0x[0-9a-f]+$/i;
const WORD = /^0x[0-9a-f]{64}$/i;

/** keccak256("Transfer(address,address,uint256)"), the first topic of every ERC-20 transfer. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** A number as nodes write it, of those that JavaScript counts exactly. A few nodes write it as a JSON number. */
export function isQuantity(quantity: unknown): quantity is string | number {
  const isHex = typeof quantity === 'string' && quantity.length <= 18 && HEX.test(quantity);
  const value = isHex || typeof quantity === 'number' ? Number(quantity) : -1;
  return value >= 0 && Number.isSafeInteger(value);
}

/** 32 bytes: a hash, a topic, a number of the chain. */
export function isWord(word: unknown): word is string {
  return typeof word === 'string' && WORD.test(word);
}

export function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}

export interface Block {
  readonly number: number;
  readonly hash: string;
  /** Seconds since 1970, as the block itself says. */
  readonly timestamp: number;
}

/** Reads the result of eth_getBlockByNumber; null when it is no block. */
export function readBlock(result: unknown): Block | null {
  if (typeof result !== 'object' || result === null) return null;
  const { number, hash, timestamp } = result as Record<string, unknown>;
  if (!isQuantity(number) || !isQuantity(timestamp) || !isWord(hash)) return null;
  return { number: Number(number), hash: hash.toLowerCase(), timestamp: Number(timestamp) };
}

/** No node can be relied on now. The message holds no address: those of nodes often carry keys. */
export class ChainUnavailable extends NotReady {
  override readonly name: string = 'ChainUnavailable';
}

/** The node limits the rate of requests: it gets none for a while. */
export class NodeLimited extends ChainUnavailable {
  override readonly name = 'NodeLimited';
}
