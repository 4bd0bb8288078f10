import { isQuantity, isWord } from './values.js';

export interface Block {
  readonly number: number;
  readonly hash: string;
  /** Seconds since 1970, as the block itself says. */
  readonly timestamp: number;
}

/** What an eth_getBlockByNumber result says of a block; null when it is none. */
export function readBlock(result: unknown): Block | null {
  if (typeof result !== 'object' || result === null) return null;
  const { number, hash, timestamp } = result as Record<string, unknown>;
  if (!isQuantity(number) || !isQuantity(timestamp) || !isWord(hash)) return null;
  return { number: Number(number), hash: hash.toLowerCase(), timestamp: Number(timestamp) };
}
