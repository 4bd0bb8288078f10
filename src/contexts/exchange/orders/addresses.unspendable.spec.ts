import { describe, expect, it } from '@jest/globals';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { Fault } from '../../../kernel/fault.js';
import { base58Bytes, base58Text } from '../../../kernel/base58.js';
import { isDepositAddress, readAddress, readEvmAddress, isOnCurve } from './addresses.js';

describe('an address without a key', () => {
  it.each([
    ['the system program', '1'.repeat(32)],
    ['the incinerator', '1nc1nerator11111111111111111111111111111111'],
    ['wrapped SOL', 'So11111111111111111111111111111111111111112'],
    ['native SOL', 'So11111111111111111111111111111111111111111'],
    ['the native mint of Token-2022', '9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXejP'],
    ['the token program', 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'],
    ['Token-2022', 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'],
    ['associated token accounts', 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'],
    ['the mint of USDC', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
    ['the mint of USDT', 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'],
    ['memos', 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'],
    ['Metaplex', 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'],
    ['Jupiter', 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'],
    ['Raydium', '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8'],
    ['Orca', 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc'],
    ['OpenBook', 'srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX'],
    ['the mint of PYUSD', '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo'],
    ['the mint of mSOL', 'mSoLzYCxHdYgdzU16g5QSh3i5K3z3KZK7ytfqcJm7So'],
    ['the mint of JitoSOL', 'J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn'],
    ['stakes', 'Stake11111111111111111111111111111111111111'],
    ['a sysvar', 'Sysvar1nstructions1111111111111111111111111'],
    ['a loader', 'BPFLoaderUpgradeab1e11111111111111111111111'],
    ['compute budgets', 'ComputeBudget111111111111111111111111111111'],
    // Reports: spl-token-wallet 242 and 264, agave 9320.
    ['the mint of SAMO', '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU'],
    ['the mint of STEP', 'StepAscQoEioFxxWGnh2sLBDFp9d8rvKz2Yp39iDpyT'],
    ['the mint of BONK', 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263'],
    ['the mint of JUP', 'JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN'],
    ['the mint of WIF', 'EKpQGSJtjMFqKZ9KQanSqYXRcF8fBopzLHYxdM65zcjm'],
    ['the mint of RAY', '4k3Dyjzvzp8eMZWUXbBCjEvwSkkk59S5iCNLY3QrkX6R'],
    ['Pump', '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P'],
  ])('is refused on Solana: %s', (_name, address) => {
    expect(base58Bytes(address)).toHaveLength(32);
    expect(readAddress(address)).toEqual(
      new Fault('must be the address of a wallet, not of a program, a mint or a burn address'),
    );
  });

  it('is none of a key pair', () => {
    for (let n = 0; n < 200; n += 1) {
      const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
      const address = base58Text(Buffer.from(x!, 'base64url'));
      expect([address, readAddress(address), isOnCurve(address)]).toEqual([address, address, true]);
    }
  });

  const token = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
  it.each([
    `0x${'0'.repeat(40)}`,
    `0x${'0'.repeat(39)}1`,
    `0x${'0'.repeat(36)}FfFf`,
    `0xdead${'0'.repeat(36)}`,
    `0xdead${'0'.repeat(32)}dead`,
    '0x000000000000000000000000000000000000dEaD',
    `0x${'dead'.repeat(10)}`,
    `0x${'f'.repeat(40)}`,
    `0x${'E'.repeat(40)}`,
    // Reports: optimistic-specs 62, mist 1583, builtin-actors 1048.
    '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000',
    '0xDeaDDEaDDeAdDeAdDEAdDEaddeAddEAdDEAd0001',
    '0x4200000000000000000000000000000000000006',
    '0xff00000000000000000000000000000000000001',
    '0xdead000000000000000042069420694206942069',
    token.toLowerCase(),
  ])('is refused on EVM chains: %s', (address) =>
    expect(readEvmAddress(address, token)).toBeInstanceOf(Fault),
  );

  it.each([
    '0x00000000000000ADc04C56Bf30aC9d3c0aAF14dC',
    `0x${'0'.repeat(35)}1${'0'.repeat(4)}`,
    `0x1${'f'.repeat(39)}`,
    `0x${'e'.repeat(39)}1`,
    `0x${'dead'.repeat(8)}deafdead`,
    `0x${'1'.repeat(40)}`,
    `0x${'b'.repeat(40)}`,
  ])('may be %s', (address) => expect(readEvmAddress(address, token)).toBe(address));

  it.each([`10x${'f'.repeat(40)}`, `0x${'f'.repeat(41)}`, `0x${'0'.repeat(41)}`])(
    'is no burn address with more than an address in it: %s',
    (text) =>
      expect(readEvmAddress(text)).toEqual(new Fault('must be an address of 40 hexadecimal digits after 0x')),
  );

  it.each([
    ['base', '0x000000000000000000000000000000000000dEaD'],
    // Reports: xrpl-dev-portal 247, vultisig-android 5846, java-tron 1448.
    ['ripple', 'rrrrrrrrrrrrrrrrrrrrrhoLvTp'],
    ['ripple', 'rrrrrrrrrrrrrrrrrrrrBZbvji'],
    ['ripple', 'rrrrrrrrrrrrrrrrrNAMEtxvNvQ'],
    ['ripple', 'rrrrrrrrrrrrrrrrrrrn5RM1rHd'],
    ['tron', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'],
    ['tron', 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy'],
    ['bitcoin', '1111111111111111111114oLvT2'],
    ['bitcoin', '1BitcoinEaterAddressDontSendf59kuE'],
    ['stellar', `G${'A'.repeat(52)}WHF`],
  ])('is no deposit address of a provider: on %s %s', (chain, address) =>
    expect(isDepositAddress(chain, address)).toBe(false),
  );

  it('may be a deposit address where another token is paid', () =>
    expect(isDepositAddress('base', token)).toBe(true));

  it.each([token, '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'])(
    'is not %s where another token is paid',
    (address) => expect(readEvmAddress(address)).toBe(address),
  );
});

describe('an address off the curve', () => {
  it.each([
    // The associated token account of a wallet, in the report of vultisig-android 5698.
    ['FGETo8T8wMcN2wCjav8VK6eh3dLk63evNDPxzLSJra8B', false],
    ['9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM', true],
  ])('%s: on the curve %s, and accepted', (address, expected) => {
    expect(isOnCurve(address)).toBe(expected);
    expect(readAddress(address)).toBe(address);
  });

  it('is half of all addresses', () => {
    const addresses = Array.from({ length: 400 }, (_, n) =>
      base58Text(createHash('sha256').update(`seed ${n}`).digest()),
    );
    const on = addresses.filter(isOnCurve).length;
    expect(on).toBeGreaterThan(140);
    expect(on).toBeLessThan(260);
  });
});
