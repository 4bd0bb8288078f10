/**
 * The catalogue of chains, tokens and pairs. Entries are never removed, because orders contain pair ids for
 * ever. Pair ids are opaque (contract.md 22.1): `USDCSOL` is USD Coin on Ethereum.
 */

interface Chain {
  readonly id: string;
  readonly name: string;
  /** The name of the identifier that transfers carry in addition to the address; null for none. */
  readonly tag: 'tag' | 'memo' | null;
  /** The URL of a transaction in a public explorer, with `{hash}`. */
  readonly explorer: string;
}

interface Token {
  readonly id: string;
  readonly name: string;
  readonly symbol: string;
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
  /** The default amount of an order, in tokens of `from`. */
  readonly defaultAmount: string;
}

const CHAINS: readonly Chain[] = [
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

/** The asset that all orders are exchanged for (contract.md 25.2). */
export const PAID_OUT: Asset = { token: 'sol', chain: 'solana' };

export const PAIRS: readonly Pair[] = [
  { id: 'USDCSOL', from: { token: 'usdc', chain: 'ethereum' }, to: PAID_OUT, defaultAmount: '100' },
  { id: 'USDCBASESOL', from: { token: 'usdc', chain: 'base' }, to: PAID_OUT, defaultAmount: '100' },
  { id: 'USDCPOLYGONSOL', from: { token: 'usdc', chain: 'polygon' }, to: PAID_OUT, defaultAmount: '100' },
  { id: 'USDTSOL', from: { token: 'usdt', chain: 'ethereum' }, to: PAID_OUT, defaultAmount: '100' },
  { id: 'USDTTRONSOL', from: { token: 'usdt', chain: 'tron' }, to: PAID_OUT, defaultAmount: '100' },
  { id: 'ETHSOL', from: { token: 'eth', chain: 'ethereum' }, to: PAID_OUT, defaultAmount: '0.05' },
  { id: 'ETHBASESOL', from: { token: 'eth', chain: 'base' }, to: PAID_OUT, defaultAmount: '0.05' },
  { id: 'BTCSOL', from: { token: 'btc', chain: 'bitcoin' }, to: PAID_OUT, defaultAmount: '0.002' },
  { id: 'LTCSOL', from: { token: 'ltc', chain: 'litecoin' }, to: PAID_OUT, defaultAmount: '1' },
  { id: 'XRPSOL', from: { token: 'xrp', chain: 'ripple' }, to: PAID_OUT, defaultAmount: '50' },
  { id: 'XLMSOL', from: { token: 'xlm', chain: 'stellar' }, to: PAID_OUT, defaultAmount: '500' },
];

function byId<T extends { readonly id: string }>(all: readonly T[]): (id: string) => T | null {
  return (id) => all.find((each) => each.id === id) ?? null;
}
export const [pairOf, tokenOf, chainOf] = [byId(PAIRS), byId(TOKENS), byId(CHAINS)];

/** Returns the currency of a pair's deposits, such as `USDC on Base`. */
export function toCurrency(pairId: string): string {
  const { token, chain } = pairOf(pairId)!.from;
  return `${tokenOf(token)!.symbol} on ${chainOf(chain)!.name}`;
}

export function countDecimals({ token, chain }: Asset): number {
  return tokenOf(token)!.decimals[chain]!;
}

/** Returns the tokens of these pairs (contract.md 25.1) in the order of the catalogue. */
export function offered(pairIds: readonly string[]) {
  return TOKENS.map((token) => {
    const pairs = PAIRS.filter(({ id, from }) => from.token === token.id && pairIds.includes(id));
    return { token, pairs, chains: CHAINS.filter(({ id }) => pairs.some(({ from }) => from.chain === id)) };
  }).filter(({ pairs }) => pairs.length > 0);
}

export const CHAIN_IDS: Readonly<Record<string, number>> = { ethereum: 1, base: 8453, polygon: 137 };
const CONTRACTS: Readonly<Record<string, string>> = {
  'usdc ethereum': '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  'usdc base': '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  'usdc polygon': '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
  'usdt ethereum': '0xdAC17F958D2ee523a2206206994597C13D831ec7',
};
/** The chains whose wallets support a URI with the chain's name as its scheme. */
const SCHEMES = ['bitcoin', 'litecoin', 'solana'];

/**
 * Returns the template of a wallet URI (EIP-681, BIP-21, Solana Pay), or null where wallets support none. Its
 * placeholders are `{address}` and `{amount}` or, in the smallest unit, `{units}`. `test` replaces Ethereum
 * in the sandbox, where only USDC on Ethereum has a URI.
 */
export function paymentUri(
  { token, chain }: Asset,
  test: { readonly chainId: number; readonly usdc: string } | null,
): string | null {
  if (test !== null && (token !== 'usdc' || chain !== 'ethereum')) return null;
  const chainId = test?.chainId ?? CHAIN_IDS[chain];
  if (chainId !== undefined && token === 'eth') return `ethereum:{address}@${chainId}?value={units}`;
  const contract = test?.usdc ?? CONTRACTS[`${token} ${chain}`];
  if (chainId !== undefined && contract !== undefined)
    return `ethereum:${contract}@${chainId}/transfer?address={address}&uint256={units}`;
  return SCHEMES.includes(chain) ? `${chain}:{address}?amount={amount}` : null;
}
