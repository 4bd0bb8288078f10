import { describe, expect, it } from '@jest/globals';
import { brokenRules } from '../../../test/support/broken-rules.js';
import type { DomainEvent } from '../../kernel/aggregate.js';
import { KIND_RULES } from './credentials/credential-kinds.js';
import { credentialHistory } from './credentials/credentials.js';
import { merchantHistory } from './merchants/merchant.js';
import { operatorHistory } from './operators/operator.js';

const at = '2026-01-02T03:04:05.000Z';

describe('the audit of the events of a merchant', () => {
  const event = (type: string, data: object = {}): DomainEvent => ({
    type: `merchant.${type}.v1`,
    data: { merchant_id: 'm', ...data },
  });
  const registered = event('registered', { name: 'Shop', registered_at: at });
  const [suspended, reinstated] = [event('suspended', { at }), event('reinstated', { at })];
  const allowed = event('ip_allow_list_set', { cidrs: ['192.0.2.0/24'], at });
  const embedding = event('embedding_set', {
    origins: ['https://shop.example'],
    callbacks: ['shop:'],
    shown_as: 'The Shop',
    at,
  });

  const brokenOf = (...events: readonly DomainEvent[]) => brokenRules(merchantHistory, 'm', events);

  it('accepts a suspension, a reinstatement and changed settings', () => {
    const events = [registered, suspended, reinstated];
    const renamed = event('renamed', { name: 'Store', at });
    const limited = event('limits_set', { requests_per_minute: 50, at });
    const settings = [allowed, embedding, renamed, limited];
    expect(brokenOf(...events, ...settings).filter(Boolean)).toEqual([]);
  });

  it.each<[string, readonly DomainEvent[], string]>([
    ['registers the merchant twice', [registered, registered], 'The merchant is registered already'],
    ['reinstates without a suspension', [registered, reinstated], 'it does not follow'],
    [
      'sets a negative limit',
      [registered, event('limits_set', { requests_per_minute: -1, at })],
      'requests_per_minute must be from 1 to 1000000',
    ],
    ['sets the same embedding again', [registered, embedding, embedding], 'it does not follow'],
    [
      'is in the stream of another merchant',
      [event('registered', { merchant_id: 'n', name: 'Shop', registered_at: at })],
      'its merchant_id is n, not that of its stream',
    ],
  ])('finds the rule that is broken by an event that %s', (_what, events, rule) => {
    expect(brokenOf(...events).at(-1)).toContain(rule);
  });
});

describe('the audit of the events of an operator', () => {
  const person = (type: string, data: object = {}): DomainEvent => ({
    type: `operator.${type}.v1`,
    data: { operator_id: 'o', at, ...data },
  });
  const created = person('created', { name: 'Ada', email: 'ada@ops.example', role: 'viewer' });
  const passkey = { credential_id: 'c', public_key: 'p', counter: 0, transports: [] };

  it('accepts every event that the commands can write', () => {
    const life = [created, person('role_set', { role: 'finance' }), person('passkey_added', passkey)];
    const ends = [person('disabled'), person('enabled')];
    expect(brokenRules(operatorHistory, 'o', [...life, ...ends]).filter(Boolean)).toEqual([]);
  });

  it.each<[string, readonly DomainEvent[], string]>([
    ['a role that is set again', [created, person('role_set', { role: 'viewer' })], 'it does not follow'],
    ['an unknown role', [created, person('role_set', { role: 'owner' })], 'role must be one of viewer'],
  ])('finds the rule that is broken by %s', (_what, events, rule) => {
    expect(brokenRules(operatorHistory, 'o', events).at(-1)).toContain(rule);
  });
});

describe('the audit of the events of credentials', () => {
  const event = (type: string, data: object = {}): DomainEvent => ({
    type: `credential.${type}.v1`,
    data: { owner_id: 'o', merchant_id: 'o', at, ...data },
  });
  const common = { name: null, scopes: [], merchants: ['o'], addresses: [], expires_at: null };
  const lacking = { withdraw_addresses: null, demands_signing: null, memo_signing: null };
  const issued = (kind: string, id: string, over: object = {}): DomainEvent => {
    const ids = { credential_id: id, kind, key_id: kind === 'payouts' ? 'o' : id };
    const secret = { sealed_secret: `sealed ${id}`, secret_hash: `hash ${id}`, is_pending: false };
    return event('issued', { ...ids, ...common, ...lacking, ...secret, ...over });
  };
  const key_id = KIND_RULES.exchange.deriveKeyId('x', 'o', null);
  const exchange = (id: string, over: object = {}): DomainEvent =>
    issued('exchange', id, {
      ...{ key_id, withdraw_addresses: [], demands_signing: true, memo_signing: 'full' },
      ...over,
    });
  const admin = (id: string, over: object = {}): DomainEvent =>
    issued('admin', id, { merchant_id: null, scopes: ['payouts:read'], merchants: null, ...over });
  const one = (type: string, id: string, data: object = {}): DomainEvent =>
    event(type, { credential_id: id, ...data });
  const rolled = (id: string, replaced_by: string, over: object = {}): DomainEvent =>
    one('rolled', id, { replaced_by, until: '2026-01-03T03:04:05.000Z', ...over });
  const payouts = (id: string): DomainEvent => issued('payouts', id);
  const restricted = event('restricted', { key_id, addresses: ['192.0.2.0/24'] });
  const page = event('page_set', { key_id, logo: null, help_url: 'https://shop.example', terms_url: null });
  const pending = admin('a', { is_pending: true });

  const brokenOf = (...events: readonly DomainEvent[]) => brokenRules(credentialHistory, 'o', events);

  it('accepts rotation, changed settings and revocation for keys of every kind', () => {
    const keys = [payouts('p'), payouts('q'), one('revoked', 'p'), rolled('q', 'r'), payouts('r')];
    const exchanged = [exchange('x'), restricted, page, rolled('x', 'y')];
    const next = exchange('y', { addresses: ['192.0.2.0/24'] });
    const ends = [one('revoked', 'y'), one('revoked', 'x')];
    const none = { merchant_id: null };
    const activated = one('activated', 'a', none);
    const replaced = rolled('a', 'b', none);
    const own = [pending, activated, replaced, admin('b'), one('revoked', 'a', none)];
    expect(brokenOf(...keys, ...exchanged, next, ...ends, ...own).filter(Boolean)).toEqual([]);
  });

  it.each<[string, readonly DomainEvent[], string]>([
    ['issues a third private key', [payouts('a'), payouts('b'), payouts('c')], '2 private keys are valid'],
    ['revokes a key twice', [payouts('a'), one('revoked', 'a'), one('revoked', 'a')], 'it does not follow'],
    ['signs memos but demands no signature', [exchange('x', { demands_signing: false })], 'full is for keys'],
    ['issues a second secret without a rotation', [exchange('x'), exchange('y')], 'its key_id is'],
    [
      'issues a replacement with additional scopes',
      [admin('a'), rolled('a', 'b'), admin('b', { scopes: ['payouts:read', 'users:write'] })],
      'its scopes is',
    ],
    ['sets the same page again', [exchange('x'), page, page], 'it does not follow'],
    ['changes a revoked key', [exchange('x'), one('revoked', 'x'), page], 'The key is revoked'],
    ['replaces a key before its approval', [pending, rolled('a', 'b')], 'The credential is pending'],
    [
      'is in the stream of another owner',
      [admin('a', { owner_id: 'n' })],
      'its owner_id is n, not that of its stream',
    ],
  ])('finds the rule that is broken by an event that %s', (_what, events, rule) => {
    expect(brokenOf(...events).at(-1)).toContain(rule);
  });
});
