import { describe, expect, it } from '@jest/globals';
import { Fault } from '../../../kernel/fault.js';
import { PAIRS } from '../tokens/catalog.js';
import { isDepositAddress, readAddress, readTag, readTransactionId, readReturnUrl } from './addresses.js';

const WALLET = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';

describe('the id of a transaction', () => {
  const hash = 'Ab'.repeat(32);

  it('is stored in canonical form', () => {
    expect(readTransactionId('base', `0x${hash}`)).toBe(`0x${hash.toLowerCase()}`);
    expect(readTransactionId('ethereum', `0X${hash}`)).toBe(`0x${hash.toLowerCase()}`);
    expect(readTransactionId('bitcoin', hash)).toBe(hash.toLowerCase());
  });

  it.each([
    ['ethereum', '0xabc'],
    ['ethereum', hash],
    ['ripple', `${hash} `],
    ['stellar', ''],
  ])('of %s is not %j', (chain, text) => expect(readTransactionId(chain, text)).toBeInstanceOf(Fault));
});

describe('a deposit address', () => {
  const GOOD: Readonly<Record<string, readonly string[]>> = {
    ethereum: ['0x52908400098527886E0F7030069857D2E4169EE7', `0x${'ab'.repeat(20)}`],
    base: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    polygon: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    tron: ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    bitcoin: [
      '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
      '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
    ],
    litecoin: ['LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9'],
    ripple: ['rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'],
    stellar: ['GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ'],
  };

  it('has a form on every chain that deposits come on', () =>
    expect(new Set(PAIRS.map(({ from }) => from.chain))).toEqual(new Set(Object.keys(GOOD))));

  it.each(Object.entries(GOOD))(
    'of %s has its form, and is none on another kind of chain',
    (chain, addresses) => {
      const isEvm = (name: string): boolean => GOOD[name]![0]!.startsWith('0x');
      const others = Object.keys(GOOD).filter((other) => other !== chain && !(isEvm(chain) && isEvm(other)));
      for (const address of addresses) {
        expect([address, isDepositAddress(chain, address)]).toEqual([address, true]);
        for (const wrong of [
          `${address}${'1'.repeat(30)}`,
          address.slice(0, 20),
          ` ${address}`,
          `${address}\n`,
          '',
        ])
          expect(isDepositAddress(chain, wrong)).toBe(false);
      }
      for (const other of [...others, 'elsewhere', 'constructor'])
        expect([other, isDepositAddress(other, addresses[0]!)]).toEqual([other, false]);
    },
  );
});

describe('an address on Solana', () => {
  it.each([
    ['of 44 characters', WALLET],
    ['of 43', '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV'],
  ])('%s is kept as it is', (_, address) => expect(readAddress(address)).toBe(address));

  it.each([
    ['empty', ''],
    ['a character short', 'So1111111111111111111111111111111111111112'],
    ['more than 32 bytes in 44 characters', 'z'.repeat(44)],
    ['with a character that Base58 has not', WALLET.replace('N', '0')],
    ['with a space', ` ${WALLET}`],
    ['of 33 zero bytes', '1'.repeat(33)],
    ['of 10,000 characters', '1'.repeat(10_000)],
    ['in other digits', '１'.repeat(32)],
  ])('%s is refused', (_, address) =>
    expect(readAddress(address)).toEqual(new Fault('must be a Solana address: Base58 of 32 bytes')),
  );
});

describe('a tag or memo', () => {
  it.each(['0', '104105', 'Überweisung 7', '🦀'.repeat(255), ''])('%j is kept as it is', (text) =>
    expect(readTag(text)).toBe(text),
  );

  it.each([
    ['256 characters', 'a'.repeat(256), 'must have at most 255 characters'],
    ['256 of two code units', '🦀'.repeat(256), 'must have at most 255 characters'],
    ['a NUL', 'a\0', 'must not contain control characters'],
    ['a line separator', 'a\u2028b', 'must not contain control characters'],
    ['half a surrogate pair', 'a\ud83e', 'must not contain control characters'],
  ])('with %s is refused', (_, text, message) => expect(readTag(text)).toEqual(new Fault(message)));
});

const LONGEST = `https://shop.example/${'a'.repeat(2048 - 21)}`;

describe('the return URL of a pay page', () => {
  it.each(['https://shop.example', 'https://shop.example:8443/a?b=c#d', 'https://шоп.example/ü', LONGEST])(
    '%.60s',
    (text) => {
      expect(readReturnUrl(text, 'production')).toBe(text);
    },
  );

  it.each(['http://localhost', 'http://localhost:3000/done?a=b', 'http://127.0.0.1:3000/'])(
    '%s, only in the sandbox',
    (text) => {
      expect(readReturnUrl(text, 'sandbox')).toBe(text);
      expect(readReturnUrl(text, 'production')).toBeInstanceOf(Fault);
    },
  );

  it.each([
    '',
    'shop.example',
    '/done',
    'https:',
    'https:shop.example',
    'javascript:alert(1)',
    'http://shop.example',
    'http://localhost.evil.example',
    'https://user:pw@shop.example',
    'https://user@shop.example',
    'https://:pw@shop.example',
    'https://shop.example/a b',
    'https://shop.example\\@evil.example',
    `${LONGEST}a`,
    `https://shop.example/${'ü'.repeat(1100)}`,
  ])('is never %j', (text) => {
    expect(readReturnUrl(text, 'sandbox')).toBeInstanceOf(Fault);
  });

  it('is null when it is omitted', () => expect(readReturnUrl(null, 'production')).toBeNull());
});
