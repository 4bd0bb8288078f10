import { describe, expect, it } from '@jest/globals';
import { getAddress } from 'ethers';
import {
  chainOf,
  countDecimals,
  offered,
  PAIRS,
  pairOf,
  paymentUri,
  toCurrency,
  tokenOf,
} from './catalog.js';

/** Orders have these pair ids for ever, and amounts of these decimals. */
it('the catalog contains all pairs that existing orders may have, with the decimals of both sides', () => {
  const sides = PAIRS.map(({ id, from, to, defaultAmount }) => {
    const [left, right] = [from, to].map((each) => `${each.token} (${countDecimals(each)}) on ${each.chain}`);
    return `${id}: ${defaultAmount} ${left} to ${right}`;
  });
  expect(sides).toEqual([
    'USDCSOL: 100 usdc (6) on ethereum to sol (9) on solana',
    'USDCBASESOL: 100 usdc (6) on base to sol (9) on solana',
    'USDCPOLYGONSOL: 100 usdc (6) on polygon to sol (9) on solana',
    'USDTSOL: 100 usdt (6) on ethereum to sol (9) on solana',
    'USDTTRONSOL: 100 usdt (6) on tron to sol (9) on solana',
    'ETHSOL: 0.05 eth (18) on ethereum to sol (9) on solana',
    'ETHBASESOL: 0.05 eth (18) on base to sol (9) on solana',
    'BTCSOL: 0.002 btc (8) on bitcoin to sol (9) on solana',
    'LTCSOL: 1 ltc (8) on litecoin to sol (9) on solana',
    'XRPSOL: 50 xrp (6) on ripple to sol (9) on solana',
    'XLMSOL: 500 xlm (7) on stellar to sol (9) on solana',
  ]);
});

it('deposits need a tag on the XRP Ledger and a memo on Stellar', () => {
  const tags = PAIRS.map(({ from: { chain } }) => [chain, chainOf(chain)!.tag]).filter(
    ([, tag]) => tag !== null,
  );
  expect(Object.fromEntries(tags)).toEqual({ ripple: 'tag', stellar: 'memo' });
  expect(toCurrency('XRPSOL')).toBe('XRP on XRP Ledger');
});

it.each(['usdcsol', 'SOLUSDC', '', ' USDCSOL', '__proto__', 'constructor'])('the catalog has no %j', (id) =>
  expect([pairOf(id), tokenOf(id), chainOf(id)]).toEqual([null, null, null]),
);

it('the exchange offers the tokens and chains of the pairs that a provider exchanges', () => {
  const ids = (all: readonly { readonly id: string }[]) => all.map(({ id }) => id);
  const [usdc, ...others] = offered(['USDCBASESOL', 'USDCSOL', 'DOGESOL']);
  expect([usdc!.token.id, others]).toEqual(['usdc', []]);
  expect(ids(usdc!.chains)).toEqual(['ethereum', 'base']);
  expect(ids(usdc!.pairs)).toEqual(['USDCSOL', 'USDCBASESOL']);
  expect(offered([])).toEqual([]);
});

describe('the payment URI for wallets', () => {
  const transfer = (contract: string, chainId: number) =>
    `ethereum:${contract}@${chainId}/transfer?address={address}&uint256={units}`;

  it.each([
    ['usdc', 'ethereum', transfer('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 1)],
    ['usdc', 'base', transfer('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 8453)],
    ['eth', 'base', 'ethereum:{address}@8453?value={units}'],
    ['btc', 'bitcoin', 'bitcoin:{address}?amount={amount}'],
    ['sol', 'solana', 'solana:{address}?amount={amount}'],
    ['usdt', 'tron', null],
    // The contract of the token is unknown on this chain.
    ['usdt', 'base', null],
    // No common URI contains a tag or a memo.
    ['xrp', 'ripple', null],
    ['xlm', 'stellar', null],
  ])('for %s on %s is %s', (token, chain, uri) => expect(paymentUri({ token, chain }, null)).toBe(uri));

  it('contains contract addresses with a valid checksum', () => {
    const contracts = PAIRS.flatMap(({ from }) => {
      const contract = /^ethereum:(0x[0-9A-Fa-f]{40})@/.exec(paymentUri(from, null) ?? '')?.[1];
      return contract === undefined ? [] : [contract];
    });
    expect(contracts).toHaveLength(4);
    for (const each of contracts) expect(getAddress(each.toLowerCase())).toBe(each);
  });

  it('exists in the sandbox only for USDC on Ethereum, with the chain and the contract of the sandbox', () => {
    const test = { chainId: 31337, usdc: `0x${'1'.repeat(40)}` };
    const uris = PAIRS.map(({ id, from }) => [id, paymentUri(from, test)]);
    expect(uris.filter(([, uri]) => uri !== null)).toEqual([['USDCSOL', transfer(test.usdc, 31337)]]);
  });
});
