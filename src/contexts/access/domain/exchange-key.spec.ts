import { describe, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import { issueSecret, setAddresses } from './credential.js';
import {
  exchangeKey,
  issueExchangeKey,
  revokeExchangeKey,
  setPage,
  logoOf,
  NO_PAGE_SETTINGS,
  type ExchangeKey,
  type ExchangeKeyEvent,
  type MemoSigning,
  type PayPageSettings,
} from './exchange-key.js';

const PNG = Buffer.from('\x89PNG\r\n\x1a\nIHDR', 'latin1');
const at = '2026-01-02T03:04:05.000Z';
const key = { key_id: 'k1', merchant_id: 'm1' };
const secret = (secretId: string) => ({ secretId, sealed: `sealed ${secretId}` });

const issued = (label: string | null = null): ExchangeKeyEvent => ({
  type: 'exchange_key.issued.v1',
  data: { ...key, label, demands_signature: true, memo_signing: 'contract', issued_at: at },
});
const secretIssued = (secretId: string): ExchangeKeyEvent => ({
  type: 'exchange_key.secret_issued.v1',
  data: { ...key, secret_id: secretId, sealed_secret: `sealed ${secretId}`, issued_at: at },
});
const revoked: ExchangeKeyEvent = { type: 'exchange_key.revoked.v1', data: { ...key, revoked_at: at } };
const pageSet = ({ logo, helpUrl, termsUrl }: PayPageSettings): ExchangeKeyEvent => ({
  type: 'exchange_key.page_set.v1',
  data: { ...key, logo, help_url: helpUrl, terms_url: termsUrl, at },
});

const given = givenOf(exchangeKey);
type Decision = (state: ExchangeKey) => ExchangeKeyEvent[];

const issue =
  (label: string | null = null, signing: Partial<Parameters<typeof issueExchangeKey>[0]> = {}): Decision =>
  (state) => {
    const command = { keyId: 'k1', merchantId: 'm1', label, secret: secret('s1'), at };
    return issueExchangeKey(
      { ...command, demandsSignature: true, memoSigning: 'contract', ...signing },
      state,
    );
  };
const rotate =
  (secretId: string): Decision =>
  (state) =>
    issueSecret('exchange_key', { secret: secret(secretId), at }, state);
const revoke: Decision = (state) => revokeExchangeKey({ at }, state);
const allow =
  (...cidrs: string[]): Decision =>
  (state) =>
    setAddresses('exchange_key', { cidrs, at }, state);

const display =
  (page: Partial<PayPageSettings>): Decision =>
  (state) =>
    setPage({ page: { ...NO_PAGE_SETTINGS, ...page }, at }, state);

describe('a key of the exchange', () => {
  it('is issued once, with a secret, and may have a label', () => {
    given().when(issue()).then(issued(), secretIssued('s1'));
    given().when(issue(' Shop ')).then(issued('Shop'), secretIssued('s1'));
    given(issued(), secretIssued('s2')).when(issue()).thenRefused('invalid_transition');
    // A retry after a crash.
    given(issued(), secretIssued('s1')).when(issue()).then();
    given()
      .when(issue(' '))
      .thenRefused('validation_failed', { label: ['must not be blank'] });
    given()
      .when(issue('x'.repeat(255)))
      .then(issued('x'.repeat(255)), secretIssued('s1'));
    given()
      .when(issue('x'.repeat(256)))
      .thenRefused('validation_failed', { label: ['must be at most 255 characters'] });
    for (const label of ['Shop\nevil', 'a\u0000b', 'a\u001b[31mb', 'a\u2028b', 'a\ud800b'])
      given()
        .when(issue(label))
        .thenRefused('validation_failed', { label: ['must not contain control characters'] });
  });

  it('demands a signature of the whole query for a memo where it demands signatures at all', () => {
    const issueWith = (demandsSignature: boolean, memoSigning: MemoSigning): Decision =>
      issue(null, { demandsSignature, memoSigning });
    const full = { ...issued(), data: { ...issued().data, memo_signing: 'full' } } as ExchangeKeyEvent;
    given().when(issueWith(true, 'full')).then(full, secretIssued('s1'));
    given()
      .when(issueWith(false, 'full'))
      .thenRefused('validation_failed', { memo_signing: ['full is for keys that demand signatures'] });
    given()
      .when(issueWith(true, 'other' as MemoSigning))
      .thenRefused('validation_failed', { memo_signing: ['must be one of contract, full'] });
  });

  it('is revoked for good', () => {
    given(issued(), secretIssued('s1')).when(revoke).then(revoked);
    given(issued(), secretIssued('s1'), revoked).when(revoke).then();
    given(issued(), secretIssued('s1'), revoked).when(rotate('s2')).thenRefused('invalid_transition');
    given(issued(), secretIssued('s1'), revoked).when(allow('10.0.0.0/8')).thenRefused('invalid_transition');
  });

  it('has a pay page with a logo and links, which are replaced together', () => {
    const page = { logo: logoOf(PNG), helpUrl: 'https://shop.example/help', termsUrl: null };
    given(issued()).when(display(page)).then(pageSet(page));
    given(issued(), pageSet(page)).when(display(page)).then();
    const withoutLogo = { ...page, logo: null };
    given(issued(), pageSet(page)).when(display(withoutLogo)).then(pageSet(withoutLogo));
    given(issued(), pageSet(page)).when(display({})).then(pageSet(NO_PAGE_SETTINGS));
    given(issued(), secretIssued('s1'), revoked).when(display(page)).thenRefused('invalid_transition');
  });

  it('does not take a link without https for its pay page', () => {
    given(issued())
      .when(display({ helpUrl: 'http://shop.example' }))
      .thenRefused('validation_failed');
  });

  it('that was never issued is not found', () => {
    for (const decide of [revoke, display({})]) given().when(decide).thenRefused('not_found');
  });
});
