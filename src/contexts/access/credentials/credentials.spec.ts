import { describe, expect, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import { fold } from '../../../kernel/aggregate.js';
import type { DomainError, FieldErrors } from '../../../kernel/domain-error.js';
import {
  KIND_RULES,
  type CredentialKind,
  type Terms,
  toLogo,
  NO_PAGE_SETTINGS,
  type PayPageSettings,
} from './credential-kinds.js';
import {
  activateCredential,
  credentials,
  issueCredential,
  MAX_KEPT,
  restrictKey,
  revokeCredential,
  rollCredential,
  setPage,
  type CredentialEvent,
  type CredentialIssued,
  type Credentials,
} from './credentials.js';

const at = '2026-01-02T03:04:05.000Z';
const LATER = '2026-01-03T03:04:05.000Z';
const owner_id = 'o1';
const given = givenOf(credentials);
type Decision = (state: Credentials) => readonly CredentialEvent[];

/** Expects the events of a decision, or the code of its refusal. */
function decides(
  history: readonly CredentialEvent[],
  decision: Decision,
  outcome: readonly CredentialEvent[] | DomainError['code'],
  fields?: FieldErrors,
): void {
  const decided = given(...history).when(decision);
  if (typeof outcome === 'string') decided.thenRefused(outcome, fields);
  else decided.then(...outcome);
}

const TERMS: Terms = {
  ...{ name: 'server', scopes: ['payouts:read', 'merchants:read'], merchants: null },
  ...{ addresses: ['192.0.2.0/24'], withdraw_addresses: ['w1'], demands_signing: true },
  memo_signing: 'contract',
  expires_at: null,
};
const NONE = { withdraw_addresses: null, demands_signing: null, memo_signing: null };

/** The stored event of each kind. */
const STORED: Readonly<Record<CredentialKind, object>> = {
  payouts: { ...NONE, scopes: [], merchants: [owner_id], addresses: [], key_id: owner_id },
  exchange: {
    ...{ scopes: [], merchants: [owner_id], addresses: ['192.0.2.0/24'], withdraw_addresses: ['w1'] },
    ...{ demands_signing: true, memo_signing: 'contract' },
    key_id: KIND_RULES.exchange.deriveKeyId('s1', owner_id, null),
  },
  admin: {
    ...NONE,
    ...{ scopes: ['merchants:read', 'payouts:read'], merchants: null, addresses: ['192.0.2.0/24'] },
  },
};

const secretOf = (id: string) => ({
  credential_id: id,
  sealed_secret: `sealed ${id}`,
  secret_hash: `hash ${id}`,
});
const issuedOf = (kind: CredentialKind, id: string, over: object = {}): CredentialIssued => ({
  type: 'credential.issued.v1',
  data: {
    ...{ owner_id, merchant_id: kind === 'admin' ? null : owner_id },
    ...{ kind, key_id: id, name: 'server', expires_at: null, is_pending: false, at },
    ...(STORED[kind] as Terms),
    ...secretOf(id),
    ...over,
  },
});
const eventsOf = (kind: CredentialKind) => {
  const owner = { owner_id, merchant_id: kind === 'admin' ? null : owner_id };
  const event = (type: string, credential_id: string, data: object = {}): CredentialEvent =>
    ({ type: `credential.${type}.v1`, data: { ...owner, credential_id, ...data, at } }) as CredentialEvent;
  return {
    rolled: (id: string, replaced_by: string, until: string) => event('rolled', id, { replaced_by, until }),
    revoked: (id: string) => event('revoked', id),
    activated: event('activated', 's1'),
  };
};

const issueOf =
  (kind: CredentialKind, id: string, over: Partial<Terms> = {}, is_pending = false): Decision =>
  (state) =>
    issueCredential(
      { owner_id, kind, secret: secretOf(id), terms: { ...TERMS, ...over }, is_pending, at },
      state,
    );
const roll =
  (credential_id: string, next: string, overlapSeconds: number, now = at): Decision =>
  (state) =>
    rollCredential({ credential_id, secret: secretOf(next), overlapSeconds, at: now }, state);
const revoke =
  (credential_id: string): Decision =>
  (state) =>
    revokeCredential({ credential_id, at }, state);
const activate =
  (now = at): Decision =>
  (state) =>
    activateCredential({ credential_id: 's1', at: now }, state);

describe.each(['payouts', 'exchange', 'admin'] as const)('a credential of kind %s', (kind) => {
  const { rolled, revoked, activated } = eventsOf(kind);
  const issued = (id: string, over: object = {}) => issuedOf(kind, id, over);
  const issue = (id: string, over: Partial<Terms> = {}) => issueOf(kind, id, over);
  const [s1, s2] = [issued('s1'), issued('s2')];
  const both = [s1, rolled('s1', 's2', LATER), s2];

  it('a repeated request issues no second credential; an invalid name or a past expiry is refused', () => {
    decides([], issue('s1'), [s1]);
    decides([s1], issue('s1'), []);
    decides([s1, revoked('s1')], issue('s1'), []);
    decides([], issue('s1', { name: '' }), [issued('s1', { name: null })]);
    decides([], issue('s1', { name: ` ${'x'.repeat(255)}` }), [issued('s1', { name: 'x'.repeat(255) })]);
    for (const name of [' ', 'x'.repeat(256), 'a\nb', 'a\u0000b', 'a\u001b[31mb', 'a\u2028b', 'a\ud800b'])
      decides([], issue('s1', { name }), 'validation_failed', {
        name: expect.anything() as unknown as string[],
      });
    decides([], issue('s1', { expires_at: at }), 'validation_failed', {
      expires_at: ['must be in the future'],
    });
  });

  it('a replacement has the same terms; the old credential expires after the overlap or earlier', () => {
    const expires_at = '2026-01-02T04:00:00.000Z';
    const [old, next] = [issued('s1', { expires_at }), issued('s2', { expires_at })];
    decides([old], roll('s1', 's2', 60), [rolled('s1', 's2', '2026-01-02T03:05:05.000Z'), next]);
    decides([old], roll('s1', 's2', 86_400), [rolled('s1', 's2', expires_at), next]);
    decides([s1], roll('s1', 's2', 0), [rolled('s1', 's2', at), s2]);
  });

  it('only an active credential can be replaced, and only once', () => {
    decides(both, roll('s1', 's2', 60), []);
    decides(both, roll('s1', 's3', 60), 'invalid_transition');
    decides([s1, revoked('s1')], roll('s1', 's3', 60), 'invalid_transition');
    decides([issued('s1', { expires_at: at })], roll('s1', 's2', 60), 'invalid_transition');
    decides([s1], roll('s9', 's3', 60), 'not_found');
  });

  it('a credential can be replaced again after its replacement was revoked', () => {
    decides([...both, revoked('s2')], roll('s1', 's3', 60), [
      rolled('s1', 's3', '2026-01-02T03:05:05.000Z'),
      issued('s3'),
    ]);
    decides([s1, rolled('s1', 's2', at), s2, revoked('s2')], roll('s1', 's3', 60), 'invalid_transition');
  });

  it('revoking a credential again has no effect; revoking an unknown credential throws not_found', () => {
    decides(both, revoke('s1'), [revoked('s1')]);
    decides([...both, revoked('s1')], revoke('s1'), []);
    decides([s1], revoke('s9'), 'not_found');
  });

  it('a credential that was issued as pending becomes active only when it is activated', () => {
    const pending = issued('s1', { is_pending: true });
    decides([], issueOf(kind, 's1', {}, true), [pending]);
    decides([s1], activate(), []);
    decides([pending], activate(), [activated]);
    decides([pending, activated], activate(), []);
    decides([pending, revoked('s1')], activate(), 'invalid_transition');
    decides([issued('s1', { is_pending: true, expires_at: LATER })], activate(LATER), 'invalid_transition');
    decides([pending], roll('s1', 's2', 0), 'invalid_transition');
    decides([], activate(), 'not_found');
  });
});

describe.each(['payouts', 'exchange'] as const)('an owner of credentials of kind %s', (kind) => {
  const { rolled, revoked } = eventsOf(kind);
  const [s1, s2] = [issuedOf(kind, 's1'), issuedOf(kind, 's2')];
  const both = [s1, rolled('s1', 's2', LATER), s2];

  it('at most two credentials of the owner are valid at a time', () => {
    decides(both, roll('s2', 's3', 60), 'invalid_transition');
    decides([...both, revoked('s1')], roll('s2', 's3', 86_400), [
      rolled('s2', 's3', LATER),
      issuedOf(kind, 's3'),
    ]);
    decides([s1, rolled('s1', 's2', at), s2], roll('s2', 's3', 86_400), [
      rolled('s2', 's3', LATER),
      issuedOf(kind, 's3'),
    ]);
  });
});

it('a merchant has at most two valid private keys', () => {
  const { revoked } = eventsOf('payouts');
  const [s1, s2] = [issuedOf('payouts', 's1'), issuedOf('payouts', 's2')];
  decides([s1], issueOf('payouts', 's2'), [s2]);
  decides([s1, s2], issueOf('payouts', 's3'), 'invalid_transition');
  const s3 = issuedOf('payouts', 's3');
  decides([s1, s2, revoked('s1')], issueOf('payouts', 's3'), [s3]);
  decides([issuedOf('payouts', 's1', { expires_at: at }), s2], issueOf('payouts', 's3'), [s3]);
  decides([s1, s2], revoke('s2'), [revoked('s2')]);
  decides([s2], revoke('s2'), [revoked('s2')]);
});

describe('an exchange key', () => {
  const { rolled, revoked } = eventsOf('exchange');
  const owner = { owner_id, merchant_id: owner_id };
  const s1 = issuedOf('exchange', 's1');
  const { key_id } = s1.data;
  const restricted = (...addresses: string[]): CredentialEvent => ({
    type: 'credential.restricted.v1',
    data: { ...owner, key_id, addresses, at },
  });
  const restrict =
    (...addresses: string[]): Decision =>
    (state) =>
      restrictKey({ key_id, addresses, at }, state);
  const pageSet = (page: PayPageSettings): CredentialEvent => ({
    type: 'credential.page_set.v1',
    data: { ...owner, key_id, ...page, at },
  });
  const display =
    (page: Partial<PayPageSettings>): Decision =>
    (state) =>
      setPage({ key_id, page: { ...NO_PAGE_SETTINGS, ...page }, at }, state);

  it('ends when its last valid secret is revoked', () => {
    const expired = issuedOf('exchange', 's1', { expires_at: at });
    const next = [rolled('s1', 's2', at), issuedOf('exchange', 's2')];
    decides([expired, ...next], revoke('s2'), [revoked('s2'), revoked('s1')]);
    decides([expired, ...next], revoke('s1'), [revoked('s1')]);
  });

  it('can be restricted to IP addresses; an empty list allows any address', () => {
    decides([s1], restrict('10.0.0.0/8'), [restricted('10.0.0.0/8')]);
    decides([s1, restricted('10.0.0.0/8')], restrict('10.0.0.0/8'), []);
    decides([s1, restricted('10.0.0.0/8')], restrict(), [restricted()]);
    decides([s1, revoked('s1')], restrict(), 'invalid_transition');
    decides([], restrict(), 'not_found');
    const { credentials: after } = fold(credentials, [
      s1,
      rolled('s1', 's2', LATER),
      issuedOf('exchange', 's2'),
      restricted('10.0.0.0/8'),
    ]);
    expect(after.map(({ addresses }) => addresses)).toEqual([['10.0.0.0/8'], ['10.0.0.0/8']]);
  });

  it('has a pay page whose logo and links are replaced together', () => {
    const logo = toLogo(Buffer.from('\x89PNG\r\n\x1a\nIHDR', 'latin1'));
    const page = { logo, help_url: 'https://shop.example/help', terms_url: null };
    decides([s1], display(page), [pageSet(page)]);
    decides([s1, pageSet(page)], display(page), []);
    const withoutLogo = { ...page, logo: null };
    decides([s1, pageSet(page)], display(withoutLogo), [pageSet(withoutLogo)]);
    decides([s1, pageSet(page)], display({}), [pageSet(NO_PAGE_SETTINGS)]);
    decides([s1, revoked('s1')], display(page), 'invalid_transition');
    expect(fold(credentials, [s1, pageSet(page), revoked('s1')]).pages).toEqual({});
    const rotated = [s1, rolled('s1', 's2', LATER), issuedOf('exchange', 's2'), pageSet(page), revoked('s1')];
    expect(Object.values(fold(credentials, rotated).pages)).toEqual([page]);
    decides([s1], display({ help_url: 'http://shop.example' }), 'validation_failed');
    decides([], display({}), 'not_found');
  });
});

it('an owner has at most 1,000 unrevoked credentials and retains the newest 1,000 revoked ones', () => {
  const { revoked } = eventsOf('payouts');
  const ids = Array.from({ length: MAX_KEPT + 1 }, (_, n) => `n${n}`);
  const expired = ids.map((id) => issuedOf('payouts', id, { expires_at: at }));
  const kept = fold(credentials, [...expired, ...ids.map(revoked)]).revoked;
  expect([kept.length, kept[0]!.credential_id]).toEqual([MAX_KEPT, 'n1']);
  const issue = issueOf('payouts', 's1');
  decides([...expired.slice(1)], issue, 'invalid_transition');
  decides([...expired.slice(2)], issue, [issuedOf('payouts', 's1')]);
});

it('credentials folded from a snapshot at any point equal the credentials folded from all events', () => {
  const { rolled, revoked, activated } = eventsOf('admin');
  const events: CredentialEvent[] = [
    issuedOf('admin', 's1', { is_pending: true }),
    activated,
    rolled('s1', 's2', LATER),
    issuedOf('admin', 's2'),
    revoked('s1'),
  ];
  const { pack, unpack } = credentials.snapshots!;
  events.forEach((_, index) => {
    const kept = unpack(JSON.parse(JSON.stringify(pack(fold(credentials, events.slice(0, index))))));
    expect(fold(credentials, events.slice(index), kept)).toEqual(fold(credentials, events));
  });
});
