import { describe, expect, it } from '@jest/globals';
import { PAIRS } from '../../domain/catalog.js';
import { isDepositAddress } from './deposit-address.js';

const GOOD: Readonly<Record<string, readonly string[]>> = {
  ethereum: [
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    `0x${'ab'.repeat(20)}`,
  ],
  base: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  polygon: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  tron: ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  bitcoin: [
    '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
    '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4',
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
  ],
  litecoin: ['LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9'],
  ripple: ['rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'],
  stellar: ['GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ'],
};

/** With the next letter in place of one in the middle. */
const misspelt = (address: string): string => {
  const at = Math.floor(address.length / 2) + 1;
  const other = address[at] === '7' ? '8' : address[at] === '2' ? '3' : address[at] === 'Q' ? 'R' : '7';
  return (
    address.slice(0, at) +
    (address === address.toUpperCase() ? other : other.toLowerCase()) +
    address.slice(at + 1)
  );
};

describe('a deposit address', () => {
  it('is checked on every chain that deposits come on', () =>
    expect(new Set(PAIRS.map(({ from }) => from.chain))).toEqual(new Set(Object.keys(GOOD))));

  it.each(Object.entries(GOOD))(
    'of %s has the form and the checksum of its chain',
    async (chain, addresses) => {
      for (const address of addresses) {
        expect([address, await isDepositAddress(chain, address)]).toEqual([address, true]);
        const isWithoutChecksum = /^0x([0-9a-f]+|[0-9A-F]+)$/.test(address);
        if (!isWithoutChecksum) expect(await isDepositAddress(chain, misspelt(address))).toBe(false);
        for (const wrong of [`${address}1`, address.slice(0, -1), ` ${address}`, `${address}\n`])
          expect(await isDepositAddress(chain, wrong)).toBe(false);
      }
    },
  );

  it('of one chain is not valid on another kind of chain', async () => {
    const isEvm = (chain: string): boolean => GOOD[chain]![0]!.startsWith('0x');
    for (const [chain, addresses] of Object.entries(GOOD))
      for (const other of Object.keys(GOOD))
        if (other !== chain && !(isEvm(chain) && isEvm(other)) && chain !== 'bitcoin')
          expect([other, await isDepositAddress(other, addresses[0]!)]).toEqual([other, false]);
    expect(await isDepositAddress('litecoin', GOOD['bitcoin']![0]!)).toBe(false);
    expect(await isDepositAddress('elsewhere', GOOD['ethereum']![0]!)).toBe(false);
    expect(await isDepositAddress('constructor', 'x')).toBe(false);
  });
});
