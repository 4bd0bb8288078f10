import { fold, type Aggregate, type DomainEvent } from '../../../kernel/aggregate.js';
import { DAY_MS } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { readLabel } from '../../../kernel/text.js';
import {
  KIND_RULES,
  type CredentialKind,
  type Terms,
  checkPage,
  NO_PAGE_SETTINGS,
  type PayPageSettings,
} from './credential-kinds.js';
import { historyRules } from '../../../kernel/history-rules.js';

/** The time for which a repeat of the request gets the secret (admin-api.md 3). */
export const SECRET_DISPLAYED_MS = DAY_MS;

/** The secret of a credential as it is stored. */
export interface CredentialSecret {
  readonly credential_id: string;
  /** The sealed secret; null where no signature needs it. */
  readonly sealed_secret: string | null;
  readonly secret_hash: string;
}

interface Owner {
  /** The merchant or the operator. */
  readonly owner_id: string;
  /** The merchant; null for an operator's credential. */
  readonly merchant_id: string | null;
}

interface Issued extends CredentialSecret, Terms, Owner {
  readonly kind: CredentialKind;
  /** Shared by credentials that replace each other: `svc-api-key`, `api_key`, or the id of an admin key. */
  readonly key_id: string;
  /** It may not be used before it is activated. */
  readonly is_pending: boolean;
  readonly at: string;
}

type Members<Name extends string> = Readonly<Record<Name, string>>;
type OfOne = Owner & Members<'credential_id' | 'at'>;
type OfKey = Owner & Members<'key_id' | 'at'>;

export type CredentialIssued = DomainEvent<'credential.issued.v1', Issued>;
export type CredentialEvent =
  | CredentialIssued
  /** Another person has approved it. */
  | DomainEvent<'credential.activated.v1', OfOne>
  /** Another one replaces it; it is valid until then. */
  | DomainEvent<'credential.rolled.v1', OfOne & Members<'replaced_by' | 'until'>>
  | DomainEvent<'credential.revoked.v1', OfOne>
  /** The addresses of a key, in canonical form. Empty: it may be used from anywhere. */
  | DomainEvent<'credential.restricted.v1', OfKey & { readonly addresses: readonly string[] }>
  /** The new content of a key's pay page. */
  | DomainEvent<'credential.page_set.v1', OfKey & PayPageSettings>;

/** A credential that is not revoked; it may be over. */
export interface Credential extends Omit<Issued, 'at'> {
  /** The end of a credential that another replaces. */
  readonly rolling_until: string | null;
  readonly replaced_by: string | null;
}

/** All keys of a merchant or an operator; the stream is `credentials-<owner_id>`. */
export interface Credentials {
  /** The credentials in order of issue. */
  readonly credentials: readonly Credential[];
  /** The newest {@link MAX_KEPT}. */
  readonly revoked: readonly Members<'credential_id' | 'key_id'>[];
  /** The pay pages of keys that have a credential. */
  readonly pages: Readonly<Record<string, PayPageSettings>>;
}

export const credentials: Aggregate<Credentials, CredentialEvent> = {
  category: 'credentials',
  initial: { credentials: [], revoked: [], pages: {} },
  evolve(state, event) {
    const change = (matches: (each: Credential) => boolean, over: Partial<Credential>): Credentials => ({
      ...state,
      credentials: state.credentials.map((each) => (matches(each) ? { ...each, ...over } : each)),
    });
    switch (event.type) {
      case 'credential.issued.v1': {
        const { at: _, ...issued } = event.data;
        const added = { ...issued, rolling_until: null, replaced_by: null };
        return { ...state, credentials: [...state.credentials, added] };
      }
      case 'credential.activated.v1':
        return change(({ credential_id }) => credential_id === event.data.credential_id, {
          is_pending: false,
        });
      case 'credential.rolled.v1': {
        const { until: rolling_until, replaced_by } = event.data;
        return change(({ credential_id }) => credential_id === event.data.credential_id, {
          rolling_until,
          replaced_by,
        });
      }
      case 'credential.restricted.v1':
        return change(({ key_id }) => key_id === event.data.key_id, { addresses: event.data.addresses });
      case 'credential.page_set.v1': {
        const { key_id, logo, help_url, terms_url } = event.data;
        return { ...state, pages: { ...state.pages, [key_id]: { logo, help_url, terms_url } } };
      }
      case 'credential.revoked.v1': {
        const { credential_id } = event.data;
        const ended = state.credentials.find((each) => each.credential_id === credential_id);
        if (ended === undefined) return state;
        const { key_id } = ended;
        const left = state.credentials.filter((each) => each !== ended);
        const { [key_id]: page, ...others } = state.pages;
        const hasPage = page !== undefined && left.some((each) => each.key_id === key_id);
        return {
          credentials: left,
          revoked: [...state.revoked, { credential_id, key_id }].slice(-MAX_KEPT),
          pages: hasPage ? state.pages : others,
        };
      }
      default:
        event satisfies never;
        return state;
    }
  },
  snapshots: {
    version: 2,
    events: [
      'credential.issued.v1',
      'credential.activated.v1',
      'credential.rolled.v1',
      'credential.revoked.v1',
      'credential.restricted.v1',
      'credential.page_set.v1',
    ],
    pack: (state) => state,
    unpack: (packed) => packed as Credentials,
  },
};

/** A rotation overlaps the old secret with the new one, and no more (contract.md 2.6, 21.7). */
const MAX_VALID = 2;
/** Bounds what each authentication of an owner folds: its people can issue and revoke keys without end. */
export const MAX_KEPT = 1000;
const MAX_NAME_LENGTH = 255;

/** Returns true once the instant has come; both in ISO 8601. */
function isOver(end: string, now: string): boolean {
  return Date.parse(end) <= Date.parse(now);
}

/** Returns the end of the credential, or null. */
export function findEnd({ rolling_until, expires_at }: Credential): string | null {
  return rolling_until ?? expires_at;
}

/** Returns true while it may be used. */
export function isValid(credential: Credential, at: string): boolean {
  const end = findEnd(credential);
  return !credential.is_pending && (end === null || !isOver(end, at));
}

export function isRevoked({ revoked }: Credentials, id: string): boolean {
  return revoked.some(({ credential_id }) => credential_id === id);
}

export function isIssued(state: Credentials, id: string): boolean {
  return isRevoked(state, id) || state.credentials.some(({ credential_id }) => credential_id === id);
}

function pickOwner({ owner_id, merchant_id }: Owner): Owner {
  return { owner_id, merchant_id };
}

/** Throws `not_found`, or `invalid_transition` for one that is revoked. */
export function requireCredential(state: Credentials, id: string): Credential {
  if (isRevoked(state, id)) throw new DomainError('invalid_transition', 'The credential is revoked');
  const found = state.credentials.find(({ credential_id }) => credential_id === id);
  if (found === undefined) throw DomainError.notFound('Credential');
  return found;
}

/** The credentials of a key that are left. Throws `not_found`, or `invalid_transition` for a key that has ended. */
function requireKey(state: Credentials, id: string): readonly [Credential, ...Credential[]] {
  const [first, ...others] = state.credentials.filter(({ key_id }) => key_id === id);
  if (first !== undefined) return [first, ...others];
  if (state.revoked.some(({ key_id }) => key_id === id))
    throw new DomainError('invalid_transition', 'The key is revoked');
  throw DomainError.notFound('Key');
}

/** The command that issues a credential. A replacement has the terms and the key of the replaced one. */
interface IssueCommand extends Pick<Issued, 'owner_id' | 'kind' | 'is_pending' | 'at'> {
  readonly secret: CredentialSecret;
  readonly terms: Terms;
}

/**
 * Issues a credential; a repeat changes nothing. A key has at most {@link MAX_VALID} valid credentials, and an owner at
 * most {@link MAX_KEPT} that are not revoked.
 */
export function issueCredential(command: IssueCommand, state: Credentials): CredentialIssued[] {
  const { owner_id, secret, is_pending, at } = command;
  const { credential_id, sealed_secret, secret_hash } = secret;
  if (isIssued(state, credential_id)) return [];
  const replaced = state.credentials.find(({ replaced_by }) => replaced_by === credential_id);
  const { kind, expires_at } = replaced ?? { kind: command.kind, expires_at: command.terms.expires_at };
  const { owner, nouns, deriveKeyId, readTerms } = KIND_RULES[kind];
  const given = replaced ?? command.terms;
  if (expires_at !== null && isOver(expires_at, at))
    throw DomainError.invalid({ expires_at: ['must be in the future'] });
  const name = given.name ? readLabel('name', given.name, MAX_NAME_LENGTH) : null;
  const key_id = deriveKeyId(credential_id, owner_id, replaced?.key_id ?? null);
  const valid = state.credentials.filter((each) => each.key_id === key_id && isValid(each, at));
  if (valid.length >= MAX_VALID)
    throw new DomainError('invalid_transition', `${MAX_VALID} ${nouns} are valid; revoke one first`);
  if (state.credentials.length >= MAX_KEPT)
    throw new DomainError(
      'invalid_transition',
      `${MAX_KEPT} keys are not revoked; revoke expired ones first`,
    );
  const terms = { ...readTerms(given, owner_id), name, expires_at };
  const merchant_id = owner === 'merchant' ? owner_id : null;
  const ids = { owner_id, merchant_id, credential_id, kind, key_id };
  const data = { ...ids, ...terms, sealed_secret, secret_hash, is_pending, at };
  return [{ type: 'credential.issued.v1', data }];
}

/** Throws `not_found`, or `invalid_transition` for one that is revoked or over. */
export function activateCredential(
  { credential_id, at }: { credential_id: string; at: string },
  state: Credentials,
): CredentialEvent[] {
  const credential = requireCredential(state, credential_id);
  const { is_pending, expires_at } = credential;
  if (!is_pending) return [];
  if (expires_at !== null && isOver(expires_at, at))
    throw new DomainError('invalid_transition', 'The credential has expired');
  return [{ type: 'credential.activated.v1', data: { ...pickOwner(credential), credential_id, at } }];
}

/** The secret replaces that of the credential, which ends after the overlap. The same again changes nothing. */
export function rollCredential(
  command: { credential_id: string; secret: CredentialSecret; overlapSeconds: number; at: string },
  state: Credentials,
): CredentialEvent[] {
  const { credential_id, secret, overlapSeconds, at } = command;
  const terms = requireCredential(state, credential_id);
  const end = new Date(Date.parse(at) + overlapSeconds * 1000).toISOString();
  const until = terms.expires_at !== null && isOver(terms.expires_at, end) ? terms.expires_at : end;
  const rolled = replaceCredential({ credential_id, replaced_by: secret.credential_id, until, at }, state);
  const { owner_id, kind } = terms;
  const issue = { owner_id, kind, secret, terms, is_pending: false, at };
  return [...rolled, ...issueCredential(issue, fold(credentials, rolled, state))];
}

/** The first half of {@link rollCredential}. Throws `not_found`, or `invalid_transition` for one that is not active. */
function replaceCredential(
  command: { credential_id: string; replaced_by: string; until: string; at: string },
  state: Credentials,
): CredentialEvent[] {
  const { credential_id, replaced_by, until, at } = command;
  const credential = requireCredential(state, credential_id);
  const { replaced_by: former, is_pending } = credential;
  if (former === replaced_by) return [];
  // One whose replacement is revoked is the only one left: it can be replaced again.
  const isReplaced = former !== null && !isRevoked(state, former);
  const usable = isValid(credential, at) ? 'active' : 'expired';
  const status = is_pending ? 'pending' : isReplaced ? 'rolling' : usable;
  if (status !== 'active') throw new DomainError('invalid_transition', `The credential is ${status}`);
  const data = { ...pickOwner(credential), credential_id, replaced_by, until, at };
  return [{ type: 'credential.rolled.v1', data }];
}

/** Revokes for good; a repeat changes nothing. A key of the exchange ends with its last valid secret. */
export function revokeCredential(
  { credential_id, at }: { credential_id: string; at: string },
  state: Credentials,
): CredentialEvent[] {
  if (isRevoked(state, credential_id)) return [];
  const credential = requireCredential(state, credential_id);
  const { kind, key_id } = credential;
  const others = state.credentials.filter(
    (each) => each.key_id === key_id && each.credential_id !== credential_id,
  );
  const ends = KIND_RULES[kind].endsWithLast && !others.some((each) => isValid(each, at));
  const ids = [credential_id, ...(ends ? others.map((each) => each.credential_id) : [])];
  return ids.map((id) => ({
    type: 'credential.revoked.v1',
    data: { ...pickOwner(credential), credential_id: id, at },
  }));
}

/** `addresses` in canonical form; none: anywhere. */
export function restrictKey(
  { key_id, addresses, at }: { key_id: string; addresses: readonly string[]; at: string },
  state: Credentials,
): CredentialEvent[] {
  const [first] = requireKey(state, key_id);
  if (addresses.join() === first.addresses.join()) return [];
  return [{ type: 'credential.restricted.v1', data: { ...pickOwner(first), key_id, addresses, at } }];
}

/** Throws `validation_failed` for a logo or a link that no page displays. */
export function setPage(
  { key_id, page, at }: { key_id: string; page: PayPageSettings; at: string },
  state: Credentials,
): CredentialEvent[] {
  const [first] = requireKey(state, key_id);
  checkPage(page);
  const { logo, help_url, terms_url } = page;
  const former = state.pages[key_id] ?? NO_PAGE_SETTINGS;
  if (logo === former.logo && help_url === former.help_url && terms_url === former.terms_url) return [];
  const data = { ...pickOwner(first), key_id, logo, help_url, terms_url, at };
  return [{ type: 'credential.page_set.v1', data }];
}

export const credentialHistory = historyRules(
  credentials,
  {
    'credential.issued.v1': (data, state) => issueCredential({ ...data, secret: data, terms: data }, state),
    'credential.activated.v1': (data, state) => activateCredential(data, state),
    'credential.rolled.v1': (data, state) => replaceCredential(data, state),
    'credential.revoked.v1': (data, state) => revokeCredential(data, state),
    'credential.restricted.v1': (data, state) => restrictKey(data, state),
    'credential.page_set.v1': (data, state) => setPage({ ...data, page: data }, state),
  },
  { id: 'owner_id' },
);
