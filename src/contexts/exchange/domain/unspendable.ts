import { base58Bytes } from '../../../kernel/base58.js';

/** Addresses without a key: what is sent there is lost. */

/** Of the native programs, sysvars, wrapped SOL and the incinerator of Solana. No key pair has so many zeros in a row. */
const SOLANA_NATIVE = /1{12}/;
/** Programs and mints of Solana that people copy in place of their address. */
const SOLANA_KNOWN: ReadonlySet<string> = new Set([
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb', // Token-2022
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL', // associated token accounts
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s', // Metaplex
  'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4', // Jupiter
  '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8', // Raydium
  'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc', // Orca
  'srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX', // OpenBook
  '9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXejP', // native mint of Token-2022
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', // USDC
  'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', // USDT
  '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo', // PYUSD
  'mSoLzYCxHdYgdzU16g5QSh3i5K3z3KZK7ytfqcJm7So', // mSOL
  'J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn', // JitoSOL
]);
/** The zero address, precompiled contracts and the usual burn addresses of EVM chains. */
const EVM_BURN = /^0x(0{36}[0-9a-f]{4}|(dead){10}|dead0{36}|dead0{32}dead|f{40}|e{40})$/i;

export function isUnspendableOnSolana(address: string): boolean {
  return SOLANA_NATIVE.test(address) || SOLANA_KNOWN.has(address);
}

/** `token` is the contract of the token that is paid: few contracts return what is sent to them. */
export function isUnspendableOnEvm(address: string, token: string | null = null): boolean {
  return EVM_BURN.test(address) || address.toLowerCase() === token?.toLowerCase();
}

const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/** Whether a key pair may have this address: a program derives addresses off the curve, and it alone can spend from them. */
export function isOnCurve(address: string): boolean {
  const bytes = base58Bytes(address);
  if (bytes?.length !== 32) return false;
  const y = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`) & (2n ** 255n - 1n);
  // x² = (y² - 1) / (d y² + 1) has a root where it is 0 or, by Euler's criterion, its power is 1; a quotient and a product of
  // the same numbers are squares together.
  const square = mod(mod(y * y - 1n) * mod(D * y * y + 1n));
  return square === 0n || power(square, (P - 1n) / 2n) === 1n;
}

function mod(value: bigint): bigint {
  const rest = value % P;
  return rest < 0n ? rest + P : rest;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let [square, rest] = [base, exponent]; rest > 0n; square = mod(square * square), rest >>= 1n)
    if (rest & 1n) result = mod(result * square);
  return result;
}
