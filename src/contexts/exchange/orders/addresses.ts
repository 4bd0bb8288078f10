import { base58Bytes } from '../../../kernel/base58.js';
import { Fault } from '../../../kernel/fault.js';
import { CONTROL_AND_LINE_SEPARATORS } from '../../../kernel/text.js';
import { CHAIN_IDS } from '../tokens/catalog.js';

const SOLANA_BYTES = 32;
/** The maximum number of Base58 characters for 32 bytes. A longer text is not decoded. */
const SOLANA_MAX_LENGTH = 44;
const MAX_CODE_POINTS = 255;

/** Returns a Solana payout address unchanged (signatures cover it), or a Fault (contract.md 22.2). */
export function readAddress(text: string): string | Fault {
  if (text.length > SOLANA_MAX_LENGTH || base58Bytes(text)?.length !== SOLANA_BYTES)
    return new Fault('must be a Solana address: Base58 of 32 bytes');
  return isUnspendable(text)
    ? new Fault('must be the address of a wallet, not of a program, a mint or a burn address')
    : text;
}

const EVM_CHAINS = Object.keys(CHAIN_IDS);
const BASE58 = '[1-9A-HJ-NP-Za-km-z]';
const BECH32 = '[02-9ac-hj-np-z]';
const EVM = /^0x[0-9a-fA-F]{40}$/;
/** The patterns of deposit addresses by chain. Wallets verify the checksums. */
const DEPOSIT_FORMS: ReadonlyMap<string, RegExp> = new Map([
  ...EVM_CHAINS.map((chain) => [chain, EVM] as const),
  ['tron', new RegExp(`^T${BASE58}{33}$`)],
  ['bitcoin', new RegExp(`^([13]${BASE58}{25,34}|bc1${BECH32}{39,59})$`)],
  ['litecoin', new RegExp(`^([LM3]${BASE58}{26,33}|ltc1${BECH32}{39,59})$`)],
  ['ripple', new RegExp(`^r${BASE58}{24,34}$`)],
  ['stellar', /^G[A-Z2-7]{55}$/],
]);

export function isDepositAddress(chain: string, text: string): boolean {
  return (DEPOSIT_FORMS.get(chain)?.test(text) ?? false) && !isUnspendable(text);
}

/** Returns a payee's EVM address, or a Fault. Refuses the contract `token`, which would keep the tokens. */
export function readEvmAddress(text: string, token: string | null = null): string | Fault {
  if (!EVM.test(text)) return new Fault('must be an address of 40 hexadecimal digits after 0x');
  return isUnspendable(text) || text.toLowerCase() === token?.toLowerCase()
    ? new Fault('must be the address of a wallet, not the zero address, a burn address or the token')
    : text;
}

/** Returns a transaction's id in lower case, with 0x on EVM chains only, or a Fault. */
export function readTransactionId(chain: string, text: string): string | Fault {
  const prefix = EVM_CHAINS.includes(chain) ? '0x' : '';
  const id = text.toLowerCase();
  return id.startsWith(prefix) && /^[0-9a-f]{64}$/.test(id.slice(prefix.length))
    ? id
    : new Fault(`must be a transaction of ${chain}: ${prefix && `${prefix} and `}64 hexadecimal digits`);
}

/** Normalizes a 32-byte hexadecimal hash to lower case without 0x. Returns any other text unchanged. */
export function plainHash(hash: string): string {
  return /^(?:0x)?([0-9a-f]{64})$/i.exec(hash)?.[1]?.toLowerCase() ?? hash;
}

/** Returns a tag or memo unchanged, or a Fault (contract.md 22.2). */
export function readTag(text: string): string | Fault {
  if ([...text].length > MAX_CODE_POINTS) return new Fault(`must have at most ${MAX_CODE_POINTS} characters`);
  return CONTROL_AND_LINE_SEPARATORS.test(text) ? new Fault('must not contain control characters') : text;
}

const MAX_URL_BYTES = 2048;
/** An http(s) URL without white space or backslashes, which browsers drop or replace. */
const URL_FORM = /^https?:\/\/[^\s\\\p{Cc}]+$/iu;
const LOOPBACK = ['localhost', '127.0.0.1'];

/** Returns the return URL of the pay page unchanged, or a Fault (contract.md 25.6). Null remains null. */
export function readReturnUrl(text: string | null, mode: 'sandbox' | 'production'): string | null | Fault {
  if (text === null) return null;
  if (Buffer.byteLength(text) > MAX_URL_BYTES) return new Fault(`must have at most ${MAX_URL_BYTES} bytes`);
  const url = URL_FORM.test(text) && URL.canParse(text) ? new URL(text) : null;
  const isHttps = url?.protocol === 'https:';
  const isLocal = mode === 'sandbox' && url?.protocol === 'http:' && LOOPBACK.includes(url.hostname);
  return (isHttps || isLocal) && url.username === '' && url.password === ''
    ? text
    : new Fault('must be an absolute https URL without a user name; in the sandbox also http://localhost');
}

/** The pattern of addresses without a private key: burn addresses, contracts, programs, repeated bytes. */
const NO_KEY =
  /^0x(0{36}[0-9a-f]{4}|(dead){9}[0-9a-f]{4}|dead0{16}[0-9a-f]{20}|(42|ff)0{34}[0-9a-f]{4}|f{40}|e{40})$|^(?!0x).*(1{12}|r{15}|a{40})/i;
/** Programs and mints that people enter as their own address, and burn addresses that NO_KEY omits. */
const KNOWN: ReadonlySet<string> = new Set([
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
  '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU', // SAMO
  'StepAscQoEioFxxWGnh2sLBDFp9d8rvKz2Yp39iDpyT', // STEP
  'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263', // BONK
  'JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN', // JUP
  'EKpQGSJtjMFqKZ9KQanSqYXRcF8fBopzLHYxdM65zcjm', // WIF
  '4k3Dyjzvzp8eMZWUXbBCjEvwSkkk59S5iCNLY3QrkX6R', // RAY
  '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P', // Pump
  'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', // TRON, of zero bytes
  'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy', // the black hole of TRON
  '1BitcoinEaterAddressDontSendf59kuE',
]);

function isUnspendable(address: string): boolean {
  return NO_KEY.test(address) || KNOWN.has(address);
}

const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/** Returns true for an address on the Ed25519 curve. Only a program can spend from any other address. */
export function isOnCurve(address: string): boolean {
  const bytes = base58Bytes(address);
  if (bytes?.length !== 32) return false;
  const y = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`) & (2n ** 255n - 1n);
  // x² = (y² - 1) / (d y² + 1) has a root if it is 0 or passes Euler's criterion. A product is a square if
  // the quotient is a square.
  const square = mod(mod(y * y - 1n) * mod(D * y * y + 1n));
  return square === 0n || power(square, (P - 1n) / 2n) === 1n;
}

const mod = (value: bigint): bigint => ((value % P) + P) % P;

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let [square, rest] = [base, exponent]; rest > 0n; square = mod(square * square), rest >>= 1n)
    if (rest & 1n) result = mod(result * square);
  return result;
}
