import type { Asset } from './catalog.js';

/** EIP-155. */
const CHAIN_IDS: Readonly<Record<string, number>> = { ethereum: 1, base: 8453, polygon: 137 };
/** The contracts of tokens on these chains, by `<token> <chain>`. */
const CONTRACTS: Readonly<Record<string, string>> = {
  'usdc ethereum': '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  'usdc base': '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  'usdc polygon': '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
  'usdt ethereum': '0xdAC17F958D2ee523a2206206994597C13D831ec7',
};
const SCHEMES: Readonly<Record<string, string>> = {
  bitcoin: 'bitcoin',
  litecoin: 'litecoin',
  solana: 'solana',
};

/** The chain that replaces Ethereum in the sandbox, and its USDC. */
interface TestChain {
  readonly chainId: number;
  readonly usdc: string;
}

/**
 * What a wallet is opened with to pay in this asset: EIP-681, BIP-21 or Solana Pay, with `{address}` and `{amount}` or, in
 * the smallest unit, `{units}`. Null where there is no such URI; in the sandbox for all but its own USDC.
 */
export function paymentUri({ token, chain }: Asset, test: TestChain | null): string | null {
  const isTest = test !== null;
  if (isTest && (token !== 'usdc' || chain !== 'ethereum')) return null;
  const chainId = isTest ? test.chainId : CHAIN_IDS[chain];
  if (chainId !== undefined && token === 'eth') return `ethereum:{address}@${chainId}?value={units}`;
  const contract = isTest ? test.usdc : CONTRACTS[`${token} ${chain}`];
  if (chainId !== undefined && contract !== undefined)
    return `ethereum:${contract}@${chainId}/transfer?address={address}&uint256={units}`;
  const scheme = SCHEMES[chain];
  return scheme === undefined ? null : `${scheme}:{address}?amount={amount}`;
}
