/**
 * What can be exchanged, version 1: a version only adds. Ids are lower case and never change: orders hold pair ids for
 * ever. Pair ids are looked up (contract.md 22.1), never taken apart: `USDCSOL` is USD Coin on Ethereum.
 *
 * Read it with {@link ../domain/tokens.ts}: `pairOf`, `tokenOf`, `chainOf`.
 */

export interface Chain {
  readonly id: string;
  readonly name: string;
  /** Whether transfers on it name their receiver by more than an address, and how that is called. */
  readonly tag: 'tag' | 'memo' | null;
  /** URL of a transaction in a public explorer, with `{hash}`. */
  readonly explorer: string;
}

export interface Token {
  readonly id: string;
  readonly name: string;
  /** What people call one of it. */
  readonly symbol: string;
  /** By chain id: digits after the point there. */
  readonly decimals: Readonly<Record<string, number>>;
}

export interface Asset {
  readonly token: string;
  readonly chain: string;
}

export interface Pair {
  readonly id: string;
  readonly from: Asset;
  readonly to: Asset;
  /** Decimal string, in `from`: what an order asks for when nobody says how much. */
  readonly defaultAmount: string;
}

export const CHAINS: readonly Chain[] = [
  { id: 'ethereum', name: 'Ethereum', tag: null, explorer: 'https://etherscan.io/tx/{hash}' },
  { id: 'base', name: 'Base', tag: null, explorer: 'https://basescan.org/tx/{hash}' },
  { id: 'polygon', name: 'Polygon', tag: null, explorer: 'https://polygonscan.com/tx/{hash}' },
  { id: 'tron', name: 'Tron', tag: null, explorer: 'https://tronscan.org/#/transaction/{hash}' },
  { id: 'bitcoin', name: 'Bitcoin', tag: null, explorer: 'https://mempool.space/tx/{hash}' },
  { id: 'litecoin', name: 'Litecoin', tag: null, explorer: 'https://litecoinspace.org/tx/{hash}' },
  { id: 'ripple', name: 'XRP Ledger', tag: 'tag', explorer: 'https://livenet.xrpl.org/transactions/{hash}' },
  {
    id: 'stellar',
    name: 'Stellar',
    tag: 'memo',
    explorer: 'https://stellar.expert/explorer/public/tx/{hash}',
  },
  { id: 'solana', name: 'Solana', tag: null, explorer: 'https://solscan.io/tx/{hash}' },
];

export const TOKENS: readonly Token[] = [
  { id: 'usdc', name: 'USD Coin', symbol: 'USDC', decimals: { ethereum: 6, base: 6, polygon: 6 } },
  { id: 'usdt', name: 'Tether USD', symbol: 'USDT', decimals: { ethereum: 6, tron: 6 } },
  { id: 'eth', name: 'Ether', symbol: 'ETH', decimals: { ethereum: 18, base: 18 } },
  { id: 'btc', name: 'Bitcoin', symbol: 'BTC', decimals: { bitcoin: 8 } },
  { id: 'ltc', name: 'Litecoin', symbol: 'LTC', decimals: { litecoin: 8 } },
  { id: 'xrp', name: 'XRP', symbol: 'XRP', decimals: { ripple: 6 } },
  { id: 'xlm', name: 'Stellar Lumens', symbol: 'XLM', decimals: { stellar: 7 } },
  { id: 'sol', name: 'Solana', symbol: 'SOL', decimals: { solana: 9 } },
];

const SOL: Asset = { token: 'sol', chain: 'solana' };

export const PAIRS: readonly Pair[] = [
  { id: 'USDCSOL', from: { token: 'usdc', chain: 'ethereum' }, to: SOL, defaultAmount: '100' },
  { id: 'USDCBASESOL', from: { token: 'usdc', chain: 'base' }, to: SOL, defaultAmount: '100' },
  { id: 'USDCPOLYGONSOL', from: { token: 'usdc', chain: 'polygon' }, to: SOL, defaultAmount: '100' },
  { id: 'USDTSOL', from: { token: 'usdt', chain: 'ethereum' }, to: SOL, defaultAmount: '100' },
  { id: 'USDTTRONSOL', from: { token: 'usdt', chain: 'tron' }, to: SOL, defaultAmount: '100' },
  { id: 'ETHSOL', from: { token: 'eth', chain: 'ethereum' }, to: SOL, defaultAmount: '0.05' },
  { id: 'ETHBASESOL', from: { token: 'eth', chain: 'base' }, to: SOL, defaultAmount: '0.05' },
  { id: 'BTCSOL', from: { token: 'btc', chain: 'bitcoin' }, to: SOL, defaultAmount: '0.002' },
  { id: 'LTCSOL', from: { token: 'ltc', chain: 'litecoin' }, to: SOL, defaultAmount: '1' },
  { id: 'XRPSOL', from: { token: 'xrp', chain: 'ripple' }, to: SOL, defaultAmount: '50' },
  { id: 'XLMSOL', from: { token: 'xlm', chain: 'stellar' }, to: SOL, defaultAmount: '500' },
];
