import { describe, expect, it } from '@jest/globals';
import {
  PAIRS,
  TOKENS,
  chainOf,
  toCurrency,
  countDecimals,
  offered,
  pairOf,
  tokenOf,
  type Asset,
} from './catalog.js';

const asset = ({ token, chain }: Asset): string => `${token} on ${chain}`;

it('the catalog keeps the pairs of existing orders', () => {
  expect(
    PAIRS.map(({ id, from, to, defaultAmount }) => `${id}: ${defaultAmount} ${asset(from)} to ${asset(to)}`),
  ).toEqual([
    'USDCSOL: 100 usdc on ethereum to sol on solana',
    'USDCBASESOL: 100 usdc on base to sol on solana',
    'USDCPOLYGONSOL: 100 usdc on polygon to sol on solana',
    'USDTSOL: 100 usdt on ethereum to sol on solana',
    'USDTTRONSOL: 100 usdt on tron to sol on solana',
    'ETHSOL: 0.05 eth on ethereum to sol on solana',
    'ETHBASESOL: 0.05 eth on base to sol on solana',
    'BTCSOL: 0.002 btc on bitcoin to sol on solana',
    'LTCSOL: 1 ltc on litecoin to sol on solana',
    'XRPSOL: 50 xrp on ripple to sol on solana',
    'XLMSOL: 500 xlm on stellar to sol on solana',
  ]);
});

it('the catalog has the decimals of each token on each of its chains', () => {
  expect(TOKENS.map(({ id, name, symbol, decimals }) => [id, name, symbol, decimals])).toEqual([
    ['usdc', 'USD Coin', 'USDC', { ethereum: 6, base: 6, polygon: 6 }],
    ['usdt', 'Tether USD', 'USDT', { ethereum: 6, tron: 6 }],
    ['eth', 'Ether', 'ETH', { ethereum: 18, base: 18 }],
    ['btc', 'Bitcoin', 'BTC', { bitcoin: 8 }],
    ['ltc', 'Litecoin', 'LTC', { litecoin: 8 }],
    ['xrp', 'XRP', 'XRP', { ripple: 6 }],
    ['xlm', 'Stellar Lumens', 'XLM', { stellar: 7 }],
    ['sol', 'Solana', 'SOL', { solana: 9 }],
  ]);
});

it.each([
  ['ethereum', 'Ethereum', null, 'https://etherscan.io/tx/{hash}'],
  ['base', 'Base', null, 'https://basescan.org/tx/{hash}'],
  ['polygon', 'Polygon', null, 'https://polygonscan.com/tx/{hash}'],
  ['tron', 'Tron', null, 'https://tronscan.org/#/transaction/{hash}'],
  ['bitcoin', 'Bitcoin', null, 'https://mempool.space/tx/{hash}'],
  ['litecoin', 'Litecoin', null, 'https://litecoinspace.org/tx/{hash}'],
  ['ripple', 'XRP Ledger', 'tag', 'https://livenet.xrpl.org/transactions/{hash}'],
  ['stellar', 'Stellar', 'memo', 'https://stellar.expert/explorer/public/tx/{hash}'],
  ['solana', 'Solana', null, 'https://solscan.io/tx/{hash}'],
])(
  'the catalog has the name of the chain %s, what its deposits need, and its explorer',
  (id, name, tag, explorer) => {
    expect(chainOf(id)).toEqual({ id, name, tag, explorer });
  },
);

it.each([
  ['USDCBASESOL', 'USDC on Base'],
  ['XRPSOL', 'XRP on XRP Ledger'],
  ['DOGESOL', 'DOGESOL'],
])('deposits of %s are in %s', (pair, currency) => expect(toCurrency(pair)).toBe(currency));

describe('a search of the catalog', () => {
  it.each(['usdcsol', 'USDC', 'SOLUSDC', '', ' USDCSOL', '__proto__', 'constructor', 'toString'])(
    'for %j finds nothing',
    (id) => {
      expect(pairOf(id)).toBeNull();
      expect(tokenOf(id)).toBeNull();
      expect(chainOf(id)).toBeNull();
    },
  );

  it('throws for decimals that are unknown', () => {
    expect(() => countDecimals({ token: 'usdc', chain: 'bitcoin' })).toThrow('no usdc on bitcoin');
    expect(() => countDecimals({ token: 'usdc', chain: 'constructor' })).toThrow('no usdc on constructor');
  });
});

describe('what is offered', () => {
  it('is the tokens and chains of the pairs that a provider exchanges', () => {
    const [usdc, ...others] = offered(['USDCBASESOL', 'USDCSOL']);
    expect(others).toEqual([]);
    expect(usdc?.token.id).toBe('usdc');
    expect(usdc?.chains.map(({ id }) => id)).toEqual(['ethereum', 'base']);
    expect(usdc?.pairs.map(({ id }) => id)).toEqual(['USDCSOL', 'USDCBASESOL']);
  });

  it('is nothing without a pair of the catalog', () => {
    expect(offered([])).toEqual([]);
    expect(offered(['DOGESOL'])).toEqual([]);
  });
});
