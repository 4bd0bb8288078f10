import { expect, it } from '@jest/globals';
import { readConfig } from '../../../composition.js';
import type { ExchangeCaller } from '../../access/contract.js';
import { SignedLinks } from './signed-links.js';
import { openSignedQuery } from './signed-url.js';

const NOW = new Date('2026-11-23T12:00:00.900Z');

it('a link opens with the newest secret of the key, and no longer with the one that is about to be revoked', () => {
  const config = readConfig({ PAY_URL: 'https://pay.example/' });
  const links = new SignedLinks({ now: () => NOW }, config);
  const caller: ExchangeCaller = {
    ...{ keyId: 'the key', merchantId: 'the merchant', demandsSignature: true, memoSigning: 'contract' },
    secrets: ['the old one', 'the new one'],
  };
  const { url, expiresAt } = links.make(caller, {
    withdraw_address: 'T',
  });
  const [address, query] = url.split('?') as [string, string];
  expect(address).toBe('https://pay.example/widget');
  expect(openSignedQuery(query, ['the new one'], NOW)).toEqual({ api_key: 'the key', withdraw_address: 'T' });
  expect(openSignedQuery(query, ['the old one'], NOW)).toBeNull();
  expect(openSignedQuery(query, ['the new one'], new Date(expiresAt))).toBeNull();
});
