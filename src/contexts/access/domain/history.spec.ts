import { describe, expect, it } from '@jest/globals';
import { brokenRules } from '../../../../test/support/broken-rules.js';
import type { DomainEvent } from '../../../kernel/aggregate.js';
import type { HistoryRules } from '../../../kernel/history-rules.js';
import { adminKeyHistory, exchangeKeyHistory, merchantHistory, operatorHistory } from './history.js';

const at = '2026-01-02T03:04:05.000Z';

describe('the audit of a merchant', () => {
  const event = (type: string, data: object = {}): DomainEvent => ({
    type: `merchant.${type}.v1`,
    data: { merchant_id: 'm', ...data },
  });
  const registered = event('registered', { name: 'Shop', registered_at: at });
  const issued = (id: string): DomainEvent =>
    event('key_issued', { key_id: id, sealed_private_key: `sealed ${id}`, issued_at: at });
  const revoked = (id: string): DomainEvent => event('key_revoked', { key_id: id, revoked_at: at });
  const [suspended, reinstated] = [event('suspended', { at }), event('reinstated', { at })];
  const allowed = event('ip_allow_list_set', { cidrs: ['192.0.2.0/24'], at });
  const embedding = event('embedding_set', {
    origins: ['https://shop.example'],
    callbacks: ['shop:'],
    shown_as: 'The Shop',
    at,
  });

  const brokenOf = (...events: readonly DomainEvent[]) => brokenRules(merchantHistory, 'm', events);

  it('accepts keys in rotation, a suspension, and settings that change', () => {
    const events = [registered, issued('a'), issued('b'), revoked('a'), issued('c'), suspended, reinstated];
    const renamed = event('renamed', { name: 'Store', at });
    const limited = event('limits_set', { requests_per_minute: 50, at });
    const rolled = event('key_rolled', { key_id: 'b', replaced_by: 'd', until: at, at });
    const settings = [allowed, embedding, renamed, limited, rolled, issued('d')];
    expect(brokenOf(...events, ...settings).filter(Boolean)).toEqual([]);
  });

  it.each<[string, readonly DomainEvent[], string]>([
    ['is registered twice', [registered, registered], 'The merchant is registered already'],
    ['has a third key', [registered, issued('a'), issued('b'), issued('c')], '2 private keys are valid'],
    ['loses a key that it never had', [registered, revoked('a')], 'Private key not found'],
    ['is suspended twice', [registered, suspended, suspended], 'it does not follow'],
    ['is reinstated without a suspension', [registered, reinstated], 'it does not follow'],
    ['sets the addresses that it has', [registered, allowed, allowed], 'it does not follow'],
    ['sets the pages that it has', [registered, embedding, embedding], 'it does not follow'],
    [
      'is in the stream of another',
      [event('registered', { merchant_id: 'n', name: 'Shop', registered_at: at })],
      'its merchant_id is n, not that of its stream',
    ],
  ])('names the rule that is broken by one that %s', (_what, events, rule) => {
    expect(brokenOf(...events).at(-1)).toContain(rule);
  });
});

describe('the audit of operators and their keys', () => {
  const person = (type: string, data: object = {}): DomainEvent => ({
    type: `operator.${type}.v1`,
    data: { operator_id: 'o', at, ...data },
  });
  const created = person('created', { name: 'Ada', email: 'ada@ops.example', role: 'viewer' });
  const passkey = { credential_id: 'c', public_key: 'p', counter: 0, transports: [] };
  const key = (type: string, data: object = {}): DomainEvent => ({
    type: `admin_key.${type}.v1`,
    data: { credential_id: 'k', at, ...data },
  });
  const issued = key('issued', {
    operator_id: 'o',
    name: 'laptop',
    scopes: ['payouts:read'],
    merchants: null,
    addresses: [],
    expires_at: null,
    secret_hash: 'hash',
    is_pending: true,
    replaces: null,
  });
  const rolled = key('rolled', { replaced_by: 'n', until: '2026-01-03T03:04:05.000Z' });

  it('accepts what the decisions decide', () => {
    const life = [created, person('role_set', { role: 'finance' }), person('passkey_added', passkey)];
    const ends = [person('disabled'), person('enabled')];
    expect(brokenRules(operatorHistory, 'o', [...life, ...ends]).filter(Boolean)).toEqual([]);
    const keys = [issued, key('activated'), rolled, key('revoked')];
    expect(brokenRules(adminKeyHistory, 'k', keys).filter(Boolean)).toEqual([]);
  });

  it.each<[string, HistoryRules, string, readonly DomainEvent[], string]>([
    ['a person who is created twice', operatorHistory, 'o', [created, created], 'it does not follow'],
    [
      'a role that is set again',
      operatorHistory,
      'o',
      [created, person('role_set', { role: 'viewer' })],
      'it does not follow',
    ],
    [
      'a key that is rolled before it is approved',
      adminKeyHistory,
      'k',
      [issued, rolled],
      'The credential is pending',
    ],
    [
      'a key that is approved after its end',
      adminKeyHistory,
      'k',
      [issued, key('revoked'), key('activated')],
      'The key is revoked',
    ],
  ])('names the rule that is broken by %s', (_what, rules, id, events, rule) => {
    expect(brokenRules(rules, id, events).at(-1)).toContain(rule);
  });
});

describe('the audit of an exchange key', () => {
  const event = (type: string, data: object = {}): DomainEvent => ({
    type: `exchange_key.${type}.v1`,
    data: { key_id: 'k', merchant_id: 'm', ...data },
  });
  const issued = (over: object = {}): DomainEvent =>
    event('issued', {
      label: 'shop',
      demands_signature: true,
      memo_signing: 'full',
      issued_at: at,
      ...over,
    });
  const secret = (id: string): DomainEvent =>
    event('secret_issued', { secret_id: id, sealed_secret: `sealed ${id}`, issued_at: at });
  const revoked = (id: string): DomainEvent => event('secret_revoked', { secret_id: id, revoked_at: at });
  const addresses = event('addresses_set', { cidrs: ['192.0.2.0/24'], at });
  const page = event('page_set', { logo: null, help_url: 'https://shop.example', terms_url: null, at });
  const gone = event('revoked', { revoked_at: at });

  const brokenOf = (...events: readonly DomainEvent[]) => brokenRules(exchangeKeyHistory, 'k', events);

  it('accepts secrets in rotation, settings that change, and the end', () => {
    const events = [issued(), secret('a'), secret('b'), revoked('a'), addresses, page, gone];
    expect(brokenOf(...events).filter(Boolean)).toEqual([]);
  });

  it.each<[string, readonly DomainEvent[], string]>([
    ['is issued twice', [issued(), issued()], 'The key is issued already'],
    ['signs memos and demands no signature', [issued({ demands_signature: false })], 'full is for keys'],
    ['has a third secret', [issued(), secret('a'), secret('b'), secret('c')], '2 secrets are valid'],
    ['loses its last secret', [issued(), secret('a'), revoked('a')], 'It is the last secret'],
    ['sets the addresses that it has', [issued(), addresses, addresses], 'it does not follow'],
    ['sets the page that it has', [issued(), page, page], 'it does not follow'],
    ['has a secret after its end', [issued(), gone, secret('a')], 'The key is revoked'],
    ['ends twice', [issued(), gone, gone], 'it does not follow'],
    ['is in the stream of another', [issued({ key_id: 'x' })], 'its key_id is x, not that of its stream'],
  ])('names the rule that is broken by one that %s', (_what, events, rule) => {
    expect(brokenOf(...events).at(-1)).toContain(rule);
  });
});
