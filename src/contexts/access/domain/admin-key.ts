import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { readLabel } from '../../../kernel/text.js';
import { isScope, SCOPES } from './roles.js';
import { isOver } from './validity.js';

interface AdminKeyIssued {
  readonly credential_id: string;
  /** The person whose key it is. */
  readonly operator_id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** Ids of the merchants it is confined to; null: all. */
  readonly merchants: readonly string[] | null;
  /** CIDRs it may be used from; empty: anywhere. */
  readonly addresses: readonly string[];
  readonly expires_at: string | null;
  readonly secret_hash: string;
  /** It may not be used before it is activated. */
  readonly is_pending: boolean;
  /** The key that it replaces; null for one that was issued. */
  readonly replaces: string | null;
  readonly at: string;
}

export type AdminKeyEvent =
  | DomainEvent<'admin_key.issued.v1', AdminKeyIssued>
  | DomainEvent<'admin_key.activated.v1', { credential_id: string; at: string }>
  /** Another key replaces it; it may be used until then. */
  | DomainEvent<
      'admin_key.rolled.v1',
      { credential_id: string; replaced_by: string; until: string; at: string }
    >
  | DomainEvent<'admin_key.revoked.v1', { credential_id: string; at: string }>;

/** A key of the admin API, of one person; the stream is `admin_key-<credential_id>`. */
export type AdminKey = { readonly status: 'unknown' } | KnownAdminKey;
export interface KnownAdminKey {
  readonly status: 'pending' | 'active' | 'rolling' | 'revoked';
  readonly issued: AdminKeyIssued;
  /** When it ends; null: never. */
  readonly endsAt: string | null;
  readonly replacedBy: string | null;
}

export const adminKey: Aggregate<AdminKey, AdminKeyEvent> = {
  category: 'admin_key',
  initial: { status: 'unknown' },
  evolve(state, event) {
    if (event.type === 'admin_key.issued.v1') {
      const { is_pending, expires_at: endsAt } = event.data;
      return { status: is_pending ? 'pending' : 'active', issued: event.data, endsAt, replacedBy: null };
    }
    if (state.status === 'unknown') return state;
    switch (event.type) {
      case 'admin_key.activated.v1':
        return { ...state, status: 'active' };
      case 'admin_key.rolled.v1': {
        const { until: endsAt, replaced_by: replacedBy } = event.data;
        return { ...state, status: 'rolling', endsAt, replacedBy };
      }
      case 'admin_key.revoked.v1':
        return { ...state, status: 'revoked' };
      default:
        return state;
    }
  },
};

const MAX_NAME_LENGTH = 255;

/** Distinct scopes in the order of {@link SCOPES}. Throws `validation_failed` on `scopes`. */
export function readScopes(scopes: readonly string[]): readonly string[] {
  const unknown = scopes.findIndex((scope) => !isScope(scope));
  if (unknown >= 0)
    throw DomainError.invalid({ scopes: [`[${unknown}] must be one of ${SCOPES.join(', ')}`] });
  return SCOPES.filter((scope) => scopes.includes(scope));
}

/** What a key is issued with. */
export interface AdminKeyTerms {
  readonly operatorId: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** Null: all. */
  readonly merchants: readonly string[] | null;
  readonly addresses: readonly string[];
  readonly expiresAt: string | null;
}

export interface NewAdminKey extends AdminKeyTerms {
  readonly credentialId: string;
  readonly secretHash: string;
  readonly isPending: boolean;
  readonly replaces: string | null;
  readonly at: string;
}

/** The same again changes nothing: a retry after a crash. */
export function issueAdminKey(command: NewAdminKey, state: AdminKey): AdminKeyEvent[] {
  if (state.status !== 'unknown') return [];
  const { credentialId, operatorId, merchants, addresses, expiresAt, isPending, replaces, at } = command;
  if (expiresAt !== null && isOver(expiresAt, at))
    throw DomainError.invalid({ expires_at: ['must be in the future'] });
  const data: AdminKeyIssued = {
    credential_id: credentialId,
    operator_id: operatorId,
    name: readLabel('name', command.name, MAX_NAME_LENGTH),
    scopes: readScopes(command.scopes),
    merchants,
    addresses,
    expires_at: expiresAt,
    secret_hash: command.secretHash,
    is_pending: isPending,
    replaces,
    at,
  };
  return [{ type: 'admin_key.issued.v1', data }];
}

/** Another person has approved it. */
export function activateAdminKey({ at }: { at: string }, state: AdminKey): AdminKeyEvent[] {
  const { status, issued, endsAt } = knownAdminKey(state);
  if (status === 'active' || status === 'rolling') return [];
  if (status === 'revoked') throw new DomainError('invalid_transition', 'The key is revoked');
  if (endsAt !== null && isOver(endsAt, at))
    throw new DomainError('invalid_transition', 'The key has expired');
  return [{ type: 'admin_key.activated.v1', data: { credential_id: issued.credential_id, at } }];
}

/** It ends after the overlap, or with its own expiry if that is earlier. The same replacement again changes nothing. */
export function rollAdminKey(
  { replacedBy, until, at }: { replacedBy: string; until: string; at: string },
  state: AdminKey,
): AdminKeyEvent[] {
  if (knownAdminKey(state).replacedBy === replacedBy) return [];
  const { issued } = usableAdminKey(state, at);
  const data = { credential_id: issued.credential_id, replaced_by: replacedBy, until, at };
  return [{ type: 'admin_key.rolled.v1', data }];
}

/** For good. A repeat changes nothing. */
export function revokeAdminKey({ at }: { at: string }, state: AdminKey): AdminKeyEvent[] {
  const { status, issued } = knownAdminKey(state);
  if (status === 'revoked') return [];
  return [{ type: 'admin_key.revoked.v1', data: { credential_id: issued.credential_id, at } }];
}

/** Throws `not_found`. */
export function knownAdminKey(state: AdminKey): KnownAdminKey {
  if (state.status === 'unknown') throw DomainError.notFound('Credential');
  return state;
}

/** Throws `not_found`, or `invalid_transition` for one that is not active: it cannot be rolled. */
export function usableAdminKey(state: AdminKey, at: string): KnownAdminKey {
  const key = knownAdminKey(state);
  const status = key.endsAt !== null && isOver(key.endsAt, at) ? 'expired' : key.status;
  if (status !== 'active') throw new DomainError('invalid_transition', `The credential is ${status}`);
  return key;
}
