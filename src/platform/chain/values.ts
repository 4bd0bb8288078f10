import { NotReady } from '../telemetry/health.js';

const HEX = /^0x[0-9a-f]+$/i;
const WORD = /^0x[0-9a-f]{64}$/i;

/** The first topic of ERC-20 transfers: keccak256("Transfer(address,address,uint256)"). */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** Checks for a quantity that is a safe integer. A few nodes send a JSON number in place of hex. */
export function isQuantity(quantity: unknown): quantity is string | number {
  const isHex = typeof quantity === 'string' && quantity.length <= 18 && HEX.test(quantity);
  const value = isHex || typeof quantity === 'number' ? Number(quantity) : -1;
  return value >= 0 && Number.isSafeInteger(value);
}

export function isWord(word: unknown): word is string {
  return typeof word === 'string' && WORD.test(word);
}

export function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}

export interface Block {
  readonly number: number;
  readonly hash: string;
  /** The time in Unix seconds. */
  readonly timestamp: number;
}

/** Reads the result of eth_getBlockByNumber; null for an invalid block. */
export function readBlock(result: unknown): Block | null {
  if (typeof result !== 'object' || result === null) return null;
  const { number, hash, timestamp } = result as Record<string, unknown>;
  if (!isQuantity(number) || !isQuantity(timestamp) || !isWord(hash)) return null;
  return { number: Number(number), hash: hash.toLowerCase(), timestamp: Number(timestamp) };
}

/** The error when no node is usable. The message contains no address, which may contain a key. */
export class ChainUnavailable extends NotReady {
  override readonly name: string = 'ChainUnavailable';
}

export class NodeLimited extends ChainUnavailable {
  override readonly name = 'NodeLimited';
}
