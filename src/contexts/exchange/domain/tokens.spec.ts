import { describe, expect, it } from '@jest/globals';
import { isDecimal } from '../../../kernel/decimal.js';
import { CHAINS, PAIRS, TOKENS } from './catalog.js';
import { chainOf, decimalsOf, offered, pairOf, pairsTo, tokenOf } from './tokens.js';

const SOL = { token: 'sol', chain: 'solana' };

describe('the catalogue', () => {
  it.each([
    ['chains', CHAINS.map(({ id }) => id)],
    ['tokens', TOKENS.map(({ id }) => id)],
    ['pairs', PAIRS.map(({ id }) => id)],
    ['pairs, by what they exchange', PAIRS.map(({ from, to }) => JSON.stringify([from, to]))],
  ])('names each of its %s once', (_, ids) => expect(new Set(ids).size).toBe(ids.length));

  it('knows token, chain and decimals of both sides of each pair', () => {
    for (const { from, to, defaultAmount } of PAIRS) {
      for (const asset of [from, to]) {
        expect(chainOf(asset.chain)).not.toBeNull();
        expect(decimalsOf(asset)).toBeGreaterThan(0);
      }
      expect(isDecimal(defaultAmount, decimalsOf(from))).toBe(true);
    }
  });

  it('has an explorer for each chain', () => {
    for (const { explorer } of CHAINS) expect(explorer).toMatch(/^https:\/\/[^{]+\{hash\}$/);
  });
});

describe('a look-up', () => {
  it('finds what is there', () => {
    expect(pairOf('USDCSOL')?.from).toEqual({ token: 'usdc', chain: 'ethereum' });
    expect(tokenOf('sol')?.name).toBe('Solana');
  });

  it.each(['usdcsol', 'USDC', 'SOLUSDC', '', ' USDCSOL', '__proto__', 'constructor', 'toString'])(
    'of %j finds nothing',
    (id) => {
      expect(pairOf(id)).toBeNull();
      expect(tokenOf(id)).toBeNull();
      expect(chainOf(id)).toBeNull();
    },
  );

  it('throws for decimals that nobody knows', () => {
    expect(() => decimalsOf({ token: 'usdc', chain: 'bitcoin' })).toThrow('no usdc on bitcoin');
    expect(() => decimalsOf({ token: 'usdc', chain: 'constructor' })).toThrow('no usdc on constructor');
  });
});

describe('what is offered', () => {
  it('is what the pairs that can be had allow, with the chains they come from', () => {
    const [usdc, ...others] = offered(SOL, ['USDCBASESOL', 'USDCSOL']);
    expect(others).toEqual([]);
    expect(usdc?.token.id).toBe('usdc');
    expect(usdc?.chains.map(({ id }) => id)).toEqual(['ethereum', 'base']);
    expect(usdc?.pairs.map(({ id }) => id)).toEqual(['USDCSOL', 'USDCBASESOL']);
  });

  it('is nothing where no pair can be had, or none of the catalogue', () => {
    expect(offered(SOL, [])).toEqual([]);
    expect(offered(SOL, ['DOGESOL'])).toEqual([]);
    expect(offered({ token: 'usdc', chain: 'ethereum' }, ['USDCSOL'])).toEqual([]);
  });

  it('is every pair for whoever can do all', () =>
    expect(pairsTo(SOL).map(({ id }) => id)).toEqual(PAIRS.map(({ id }) => id)));
});
