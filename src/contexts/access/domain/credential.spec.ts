import { describe, expect, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import { streamOf, type Aggregate, type DomainEvent } from '../../../kernel/aggregate.js';
import {
  issueSecret,
  revokeSecret,
  rollSecret,
  setAddresses,
  type Credential,
  type CredentialKind,
} from './credential.js';
import { exchangeKey } from './exchange-key.js';
import { merchant } from './merchant.js';

const at = '2026-01-02T03:04:05.000Z';
const key = { key_id: 'c1', merchant_id: 'm1' };

/** What is stored of each kind, to the letter. */
const STORED = {
  api_key: {
    aggregate: merchant,
    stream: 'merchant-c1',
    issued: { type: 'merchant.registered.v1', data: { merchant_id: 'c1', name: 'Acme', registered_at: at } },
    secretIssued: (id: string) => ({
      type: 'merchant.key_issued.v1',
      data: { merchant_id: 'c1', key_id: id, sealed_private_key: `sealed ${id}`, issued_at: at },
    }),
    secretRevoked: (id: string) => ({
      type: 'merchant.key_revoked.v1',
      data: { merchant_id: 'c1', key_id: id, revoked_at: at },
    }),
    addressesSet: (...cidrs: string[]) => ({
      type: 'merchant.ip_allow_list_set.v1',
      data: { merchant_id: 'c1', cidrs, at },
    }),
    lastSecret: 'is revoked like any other',
  },
  exchange_key: {
    aggregate: exchangeKey,
    stream: 'exchange_key-c1',
    issued: {
      type: 'exchange_key.issued.v1',
      data: { ...key, label: null, demands_signature: true, memo_signing: 'contract', issued_at: at },
    },
    secretIssued: (id: string) => ({
      type: 'exchange_key.secret_issued.v1',
      data: { ...key, secret_id: id, sealed_secret: `sealed ${id}`, issued_at: at },
    }),
    secretRevoked: (id: string) => ({
      type: 'exchange_key.secret_revoked.v1',
      data: { ...key, secret_id: id, revoked_at: at },
    }),
    addressesSet: (...cidrs: string[]) => ({
      type: 'exchange_key.addresses_set.v1',
      data: { ...key, cidrs, at },
    }),
    lastSecret: 'stays',
  },
};

describe.each(['api_key', 'exchange_key'] as const)('a credential of kind %s', (kind: CredentialKind) => {
  const { aggregate, stream, issued, secretIssued, secretRevoked, addressesSet, lastSecret } = STORED[kind];
  const given = givenOf(aggregate as unknown as Aggregate<Credential, DomainEvent>);
  type Decision = (state: Credential) => readonly DomainEvent[];
  const issue =
    (secretId: string): Decision =>
    (state) =>
      issueSecret(kind, { secret: { secretId, sealed: `sealed ${secretId}` }, at }, state);
  const roll =
    (secretId: string, next: string, overlapSeconds: number): Decision =>
    (state) =>
      rollSecret(
        kind,
        { secretId, secret: { secretId: next, sealed: `sealed ${next}` }, overlapSeconds, at },
        state,
      );
  const secretRolled = (id: string, replaced_by: string, until: string): DomainEvent => ({
    type: kind === 'api_key' ? 'merchant.key_rolled.v1' : 'exchange_key.secret_rolled.v1',
    data:
      kind === 'api_key'
        ? { merchant_id: 'c1', key_id: id, replaced_by, until, at }
        : { ...key, secret_id: id, replaced_by, until, at },
  });
  const revoke =
    (secretId: string): Decision =>
    (state) =>
      revokeSecret(kind, { secretId, at }, state);
  const allow =
    (...cidrs: string[]): Decision =>
    (state) =>
      setAddresses(kind, { cidrs, at }, state);
  const [s1, s2] = [secretIssued('s1'), secretIssued('s2')];

  it('has its own stream', () => {
    expect(streamOf(aggregate, 'c1')).toBe(stream);
  });

  it('has at most two valid secrets', () => {
    given(issued, s1).when(issue('s2')).then(s2);
    given(issued, s1, s2).when(issue('s2')).then();
    given(issued, s1, s2).when(issue('s3')).thenRefused('invalid_transition');
    const replaced = [issued, s1, s2, secretRevoked('s1')];
    given(...replaced)
      .when(issue('s3'))
      .then(secretIssued('s3'));
    given(...replaced, secretIssued('s3'))
      .when(issue('s4'))
      .thenRefused('invalid_transition');
  });

  it('has room for another secret once one is over', () => {
    const until = '2026-01-02T03:00:00.000Z';
    const ended = secretIssued('s2');
    const expired = { ...ended, data: { ...ended.data, expires_at: until } };
    given(issued, s1, expired).when(issue('s3')).then(secretIssued('s3'));
    given(issued, s1, s2, secretRolled('s1', 's2', until))
      .when(issue('s3'))
      .then(secretIssued('s3'));
  });

  it('replaces a secret by one with the same name and expiry, after an overlap that the expiry bounds', () => {
    const facts = { name: 'server', expires_at: '2026-01-02T04:00:00.000Z' };
    const old = { ...s1, data: { ...s1.data, ...facts } };
    const next = { ...s2, data: { ...s2.data, ...facts } };
    given(issued, old)
      .when(roll('s1', 's2', 60))
      .then(secretRolled('s1', 's2', '2026-01-02T03:05:05.000Z'), next);
    given(issued, old)
      .when(roll('s1', 's2', 86_400))
      .then(secretRolled('s1', 's2', facts.expires_at), next);
    given(issued, s1)
      .when(roll('s1', 's2', 0))
      .then(secretRolled('s1', 's2', at), s2);
  });

  it('replaces only what is active, once, and not beyond two valid secrets', () => {
    const rolled = secretRolled('s1', 's2', '2026-01-03T03:04:05.000Z');
    given(issued, s1, rolled, s2)
      .when(roll('s1', 's2', 60))
      .then();
    given(issued, s1, rolled, s2)
      .when(roll('s1', 's3', 60))
      .thenRefused('invalid_transition');
    given(issued, s1, rolled, s2)
      .when(roll('s2', 's3', 60))
      .thenRefused('invalid_transition');
    given(issued, s1, s2, secretRevoked('s1'))
      .when(roll('s1', 's3', 60))
      .thenRefused('invalid_transition');
    given(issued, s1)
      .when(roll('s9', 's3', 60))
      .thenRefused('not_found');
  });

  it('replaces a secret again whose replacement is revoked: it is the only one left', () => {
    const rolled = secretRolled('s1', 's2', '2026-01-03T03:04:05.000Z');
    given(issued, s1, rolled, s2, secretRevoked('s2'))
      .when(roll('s1', 's3', 60))
      .then(secretRolled('s1', 's3', '2026-01-02T03:05:05.000Z'), secretIssued('s3'));
    given(issued, s1, secretRolled('s1', 's2', at), s2, secretRevoked('s2'))
      .when(roll('s1', 's3', 60))
      .thenRefused('invalid_transition');
  });

  it('loses a secret once, and none that it never had', () => {
    given(issued, s1, s2).when(revoke('s1')).then(secretRevoked('s1'));
    given(issued, s1, s2, secretRevoked('s1')).when(revoke('s1')).then();
    given(issued, s1).when(revoke('s9')).thenRefused('not_found');
  });

  it(`has a last secret that ${lastSecret}`, () => {
    for (const history of [
      [issued, s2],
      [issued, s1, s2, secretRevoked('s1')],
    ]) {
      const decided = given(...history).when(revoke('s2'));
      if (kind === 'api_key') decided.then(secretRevoked('s2'));
      else decided.thenRefused('invalid_transition');
    }
  });

  it('may be used from its addresses; none means anywhere', () => {
    given(issued).when(allow('10.0.0.0/8')).then(addressesSet('10.0.0.0/8'));
    given(issued, addressesSet('10.0.0.0/8')).when(allow('10.0.0.0/8')).then();
    given(issued, addressesSet('10.0.0.0/8')).when(allow()).then(addressesSet());
    given(issued).when(allow()).then();
  });

  it('must be issued first', () => {
    for (const decide of [issue('s1'), revoke('s1'), allow()]) given().when(decide).thenRefused('not_found');
  });
});
