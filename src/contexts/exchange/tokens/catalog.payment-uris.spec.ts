import { describe, expect, it } from '@jest/globals';
import { getAddress } from 'ethers';
import { PAIRS, paymentUri } from './catalog.js';

const contractIn = (uri: string): string => /^ethereum:(0x[0-9A-Fa-f]{40})@/.exec(uri)![1]!;

describe('the URI that a wallet is opened with', () => {
  it.each([
    [
      'usdc',
      'ethereum',
      'ethereum:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48@1/transfer?address={address}&uint256={units}',
    ],
    [
      'usdc',
      'base',
      'ethereum:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913@8453/transfer?address={address}&uint256={units}',
    ],
    ['eth', 'base', 'ethereum:{address}@8453?value={units}'],
    ['btc', 'bitcoin', 'bitcoin:{address}?amount={amount}'],
    ['sol', 'solana', 'solana:{address}?amount={amount}'],
    ['usdt', 'tron', null],
    // The contract of the token is unknown on this chain.
    ['usdt', 'base', null],
    // No common URI contains a tag or a memo.
    ['xrp', 'ripple', null],
    ['xlm', 'stellar', null],
  ])('of %s on %s is %s', (token, chain, uri) => expect(paymentUri({ token, chain }, null)).toBe(uri));

  it('names contracts by addresses with a valid checksum', () => {
    const uris = PAIRS.flatMap(({ from }) => paymentUri(from, null) ?? []).filter((uri) =>
      uri.includes('/transfer'),
    );
    expect(uris).toHaveLength(4);
    for (const uri of uris) expect(getAddress(contractIn(uri).toLowerCase())).toBe(contractIn(uri));
  });

  it('names only the chain and the USDC of the sandbox there', () => {
    const test = { chainId: 31337, usdc: `0x${'1'.repeat(40)}` };
    expect(paymentUri({ token: 'usdc', chain: 'ethereum' }, test)).toBe(
      `ethereum:${test.usdc}@31337/transfer?address={address}&uint256={units}`,
    );
    for (const { from } of PAIRS.filter(({ id }) => id !== 'USDCSOL'))
      expect(paymentUri(from, test)).toBeNull();
  });
});
