const HEX = /^0x[0-9a-f]+$/i;
const WORD = /^0x[0-9a-f]{64}$/i;

/** keccak256("Transfer(address,address,uint256)"), the first topic of every ERC-20 transfer. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** A number as nodes write it, of those that JavaScript counts exactly. */
export function isQuantity(quantity: unknown): quantity is string {
  return (
    typeof quantity === 'string' &&
    quantity.length <= 18 &&
    HEX.test(quantity) &&
    Number.isSafeInteger(Number(quantity))
  );
}

/** 32 bytes: a hash, a topic, a number of the chain. */
export function isWord(word: unknown): word is string {
  return typeof word === 'string' && WORD.test(word);
}

/** A number as nodes want it. */
export function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}
