import { describe, expect, it } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import { base58Bytes, base58Text } from '../../../kernel/base58.js';
import { Fault } from '../../../kernel/fault.js';
import { PAIRS } from '../tokens/catalog.js';
import {
  isDepositAddress,
  isOnCurve,
  readAddress,
  readEvmAddress,
  readReturnUrl,
  readTag,
  readTransactionId,
} from './addresses.js';

const WALLET = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';

describe('a transaction id', () => {
  const hash = 'Ab'.repeat(32);

  it.each([
    ['base', `0x${hash}`, `0x${hash.toLowerCase()}`],
    ['ethereum', `0X${hash}`, `0x${hash.toLowerCase()}`],
    ['bitcoin', hash, hash.toLowerCase()],
  ])('on %s is stored in canonical form: %s', (chain, text, id) =>
    expect(readTransactionId(chain, text)).toBe(id),
  );

  it.each([
    ['ethereum', '0xabc'],
    ['ethereum', hash],
    ['ripple', `${hash} `],
    ['stellar', ''],
  ])('on %s cannot be %j', (chain, text) => expect(readTransactionId(chain, text)).toBeInstanceOf(Fault));
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
  const isEvm = (chain: string): boolean => GOOD[chain]![0]!.startsWith('0x');

  it('has an example in this test for every chain from which deposits are accepted', () =>
    expect(new Set(PAIRS.map(({ from }) => from.chain))).toEqual(new Set(Object.keys(GOOD))));

  it.each(Object.entries(GOOD))('on %s is accepted, and refused on chains of another kind', (chain, all) => {
    for (const address of all) {
      expect([address, isDepositAddress(chain, address)]).toEqual([address, true]);
      const wrong = [`${address}${'1'.repeat(30)}`, address.slice(0, 20), ` ${address}`, `${address}\n`, ''];
      expect(wrong.filter((each) => isDepositAddress(chain, each))).toEqual([]);
    }
    const others = Object.keys(GOOD).filter((other) => other !== chain && !(isEvm(chain) && isEvm(other)));
    for (const other of [...others, 'elsewhere', 'constructor'])
      expect([other, isDepositAddress(other, all[0]!)]).toEqual([other, false]);
  });

  it.each([
    ['base', '0x000000000000000000000000000000000000dEaD'],
    // Reports: xrpl-dev-portal 247, vultisig-android 5846, java-tron 1448.
    ['ripple', 'rrrrrrrrrrrrrrrrrrrrrhoLvTp'],
    ['ripple', 'rrrrrrrrrrrrrrrrrNAMEtxvNvQ'],
    ['tron', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'],
    ['tron', 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy'],
    ['bitcoin', '1111111111111111111114oLvT2'],
    ['bitcoin', '1BitcoinEaterAddressDontSendf59kuE'],
    ['stellar', `G${'A'.repeat(52)}WHF`],
  ])('on %s is refused if no one has its key: %s', (chain, address) =>
    expect(isDepositAddress(chain, address)).toBe(false),
  );
});

describe('an address on Solana', () => {
  it.each([WALLET, '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV'])('is accepted unchanged: %s', (address) =>
    expect(readAddress(address)).toBe(address),
  );

  it.each([
    ['empty', ''],
    ['a character short', 'So1111111111111111111111111111111111111112'],
    ['more than 32 bytes in 44 characters', 'z'.repeat(44)],
    ['with a character that Base58 has not', WALLET.replace('N', '0')],
    ['with a space', ` ${WALLET}`],
    ['of 33 zero bytes', '1'.repeat(33)],
    ['of 10,000 characters', '1'.repeat(10_000)],
    ['in other digits', '１'.repeat(32)],
  ])('is refused: %s', (_, address) =>
    expect(readAddress(address)).toEqual(new Fault('must be a Solana address: Base58 of 32 bytes')),
  );

  it.each([
    ['the system program', '1'.repeat(32)],
    ['the incinerator', '1nc1nerator11111111111111111111111111111111'],
    ['wrapped SOL', 'So11111111111111111111111111111111111111112'],
    ['stakes', 'Stake11111111111111111111111111111111111111'],
    ['a sysvar', 'Sysvar1nstructions1111111111111111111111111'],
    ['a loader', 'BPFLoaderUpgradeab1e11111111111111111111111'],
    ['the token program', 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'],
    ['associated token accounts', 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'],
    ['the mint of USDC', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
    ['the mint of USDT', 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'],
    // Reports: spl-token-wallet 242 and 264, agave 9320.
    ['the mint of SAMO', '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU'],
  ])('is refused if no one has its key: %s', (_name, address) => {
    expect(base58Bytes(address)).toHaveLength(32);
    expect(readAddress(address)).toEqual(
      new Fault('must be the address of a wallet, not of a program, a mint or a burn address'),
    );
  });

  it('that belongs to a key pair is accepted and is on the curve', () => {
    for (let n = 0; n < 200; n += 1) {
      const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
      const address = base58Text(Buffer.from(x!, 'base64url'));
      expect([address, readAddress(address), isOnCurve(address)]).toEqual([address, address, true]);
    }
  });

  it('is accepted even if it is not on the curve, like an associated token account', () => {
    // The report of vultisig-android 5698.
    const account = 'FGETo8T8wMcN2wCjav8VK6eh3dLk63evNDPxzLSJra8B';
    expect([isOnCurve(account), readAddress(account)]).toEqual([false, account]);
  });
});

describe('an address on EVM chains', () => {
  const token = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
  it.each([
    `0x${'0'.repeat(40)}`,
    `0x${'0'.repeat(36)}FfFf`,
    `0xdead${'0'.repeat(36)}`,
    '0x000000000000000000000000000000000000dEaD',
    `0x${'dead'.repeat(10)}`,
    `0x${'f'.repeat(40)}`,
    `0x${'E'.repeat(40)}`,
    // Reports: optimistic-specs 62, mist 1583, builtin-actors 1048.
    '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000',
    '0x4200000000000000000000000000000000000006',
    '0xff00000000000000000000000000000000000001',
    '0xdead000000000000000042069420694206942069',
    token.toLowerCase(),
  ])('is refused if it is the token contract or an address without a private key: %s', (address) =>
    expect(readEvmAddress(address, token)).toBeInstanceOf(Fault),
  );

  it.each([
    '0x00000000000000ADc04C56Bf30aC9d3c0aAF14dC',
    `0x${'0'.repeat(35)}1${'0'.repeat(4)}`,
    `0x1${'f'.repeat(39)}`,
    `0x${'e'.repeat(39)}1`,
    `0x${'dead'.repeat(8)}deafdead`,
    `0x${'1'.repeat(40)}`,
  ])('can be %s', (address) => expect(readEvmAddress(address, token)).toBe(address));

  it.each([`10x${'f'.repeat(40)}`, `0x${'0'.repeat(41)}`])('must have 40 digits after 0x: %s', (text) =>
    expect(readEvmAddress(text)).toEqual(new Fault('must be an address of 40 hexadecimal digits after 0x')),
  );

  it('is accepted if it is the contract of another token than the paid token', () => {
    expect(readEvmAddress(token)).toBe(token);
    expect(isDepositAddress('base', token)).toBe(true);
  });
});

describe('a tag or memo', () => {
  it.each(['0', '104105', 'Überweisung 7', '🦀'.repeat(255), ''])('is accepted unchanged: %j', (text) =>
    expect(readTag(text)).toBe(text),
  );

  it.each([
    ['256 characters', 'a'.repeat(256), 'must have at most 255 characters'],
    ['256 characters of two code units', '🦀'.repeat(256), 'must have at most 255 characters'],
    ['a NUL', 'a\0', 'must not contain control characters'],
    ['a line separator', 'a\u2028b', 'must not contain control characters'],
    ['half a surrogate pair', 'a\ud83e', 'must not contain control characters'],
  ])('is refused with %s', (_, text, message) => expect(readTag(text)).toEqual(new Fault(message)));
});

describe('the return URL of a pay page', () => {
  const LONGEST = `https://shop.example/${'a'.repeat(2048 - 21)}`;

  it.each(['https://shop.example:8443/a?b=c#d', 'https://шоп.example/ü', LONGEST])('can be %.60s', (text) =>
    expect(readReturnUrl(text, 'production')).toBe(text),
  );

  it.each(['http://localhost:3000/done?a=b', 'http://127.0.0.1:3000/'])(
    'can be %s, but only in the sandbox',
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
    'https://:pw@shop.example',
    'https://shop.example/a b',
    'https://shop.example\\@evil.example',
    `${LONGEST}a`,
    `https://shop.example/${'ü'.repeat(1100)}`,
  ])('cannot be %j', (text) => expect(readReturnUrl(text, 'sandbox')).toBeInstanceOf(Fault));
});
