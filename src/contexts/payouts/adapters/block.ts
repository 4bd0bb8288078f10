import { isQuantity } from './receipt.js';

export interface Block {
  readonly number: number;
  readonly hash: string;
  /** Seconds since 1970, as the block itself says. */
  readonly timestamp: number;
}

const WORD = /^0x[0-9a-f]{64}$/i;

/** What an eth_getBlockByNumber result says of a block; null when it is none. */
export function readBlock(result: unknown): Block | null {
  if (typeof result !== 'object' || result === null) return null;
  const { number, hash, timestamp } = result as Record<string, unknown>;
  if (!isQuantity(number) || !isQuantity(timestamp)) return null;
  if (typeof hash !== 'string' || !WORD.test(hash)) return null;
  return { number: Number(number), hash: hash.toLowerCase(), timestamp: Number(timestamp) };
}
