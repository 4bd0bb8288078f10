import {
  fold,
  withChanges,
  type Aggregate,
  type Changes,
  type DomainEvent,
} from '../../../kernel/aggregate.js';
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

/** The time after an issue in which a repeated request still returns the secret (admin-api.md 3). */
export const SECRET_DISPLAYED_MS = DAY_MS;

export interface CredentialSecret {
  readonly credential_id: string;
  /** The sealed secret; null for a bearer token. */
  readonly sealed_secret: string | null;
  readonly secret_hash: string;
}

interface Owner {
  readonly owner_id: string;
  /** The merchant id, equal to `owner_id`; null for an operator's credential. */
  readonly merchant_id: string | null;
}

interface Issued extends CredentialSecret, Terms, Owner {
  readonly kind: CredentialKind;
  /** The merchant id (payouts), the `api_key` (exchange) or the credential id (admin). */
  readonly key_id: string;
  /** True until another person approves the credential. */
  readonly is_pending: boolean;
  readonly at: string;
}

type Members<Name extends string> = Readonly<Record<Name, string>>;
type OneCommand = Members<'credential_id' | 'at'>;
type OfOne = Owner & OneCommand;
type OfKey = Owner & Members<'key_id' | 'at'>;

export type CredentialIssued = DomainEvent<'credential.issued.v1', Issued>;
export type CredentialEvent =
  | CredentialIssued
  | DomainEvent<'credential.activated.v1', OfOne>
  /** The credential `replaced_by` replaces this one, which stays valid until `until`. */
  | DomainEvent<'credential.rolled.v1', OfOne & Members<'replaced_by' | 'until'>>
  | DomainEvent<'credential.revoked.v1', OfOne>
  /** The list `addresses` has the canonical networks that may use the key; an empty list allows any. */
  | DomainEvent<'credential.restricted.v1', OfKey & { readonly addresses: readonly string[] }>
  | DomainEvent<'credential.page_set.v1', OfKey & PayPageSettings>;

/** A credential that is not revoked; it may have expired. */
export interface Credential extends Omit<Issued, 'at'> {
  readonly rolling_until: string | null;
  readonly replaced_by: string | null;
}

/** All credentials of a merchant or an operator; the stream is `credentials-<owner_id>`. */
export interface Credentials {
  readonly credentials: readonly Credential[];
  readonly revoked: readonly Members<'credential_id' | 'key_id'>[];
  readonly pages: Readonly<Record<string, PayPageSettings>>;
}

export const credentialChanges = {
  'credential.activated.v1': () => ({ is_pending: false }),
  'credential.rolled.v1': ({ until: rolling_until, replaced_by }) => ({ rolling_until, replaced_by }),
  'credential.restricted.v1': ({ addresses }) => ({ addresses }),
} satisfies Partial<Changes<Credential, CredentialEvent>>;

export const credentials: Aggregate<Credentials, CredentialEvent> = {
  category: 'credentials',
  initial: { credentials: [], revoked: [], pages: {} },
  evolve(state, event) {
    switch (event.type) {
      case 'credential.issued.v1': {
        const { at: _, ...issued } = event.data;
        const added = { ...issued, rolling_until: null, replaced_by: null };
        return { ...state, credentials: [...state.credentials, added] };
      }
      case 'credential.activated.v1':
      case 'credential.rolled.v1':
      case 'credential.restricted.v1': {
        const { data } = event;
        const change = (each: Credential): Credential =>
          ('key_id' in data ? each.key_id === data.key_id : each.credential_id === data.credential_id)
            ? withChanges(credentialChanges, event, each)
            : each;
        return { ...state, credentials: state.credentials.map(change) };
      }
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
        const { [key_id]: _, ...others } = state.pages;
        const revoked = [...state.revoked, { credential_id, key_id }].slice(-MAX_KEPT);
        const pages = left.some((each) => each.key_id === key_id) ? state.pages : others;
        return { credentials: left, revoked, pages };
      }
      default:
        event satisfies never;
        return state;
    }
  },
  snapshots: {
    version: 2,
    get events() {
      return credentialHistory.events;
    },
    pack: (state) => state,
    unpack: (packed) => packed as Credentials,
  },
};

/** The maximum number of valid secrets of a key: two during a rotation (contract.md 2.6, 21.7). */
const MAX_VALID = 2;
/** The maximum per owner of unrevoked credentials, and of revoked ids: each authentication reads all. */
export const MAX_KEPT = 1000;
const MAX_NAME_LENGTH = 255;

function isOver(end: string | null, now: string): boolean {
  return end !== null && Date.parse(end) <= Date.parse(now);
}

export function findEnd({ rolling_until, expires_at }: Credential): string | null {
  return rolling_until ?? expires_at;
}

export function isValid(credential: Credential, at: string): boolean {
  return !credential.is_pending && !isOver(findEnd(credential), at);
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

export function requireCredential(state: Credentials, id: string): Credential {
  if (isRevoked(state, id)) throw new DomainError('invalid_transition', 'The credential is revoked');
  const found = state.credentials.find(({ credential_id }) => credential_id === id);
  if (found === undefined) throw DomainError.notFound('Credential');
  return found;
}

/** Returns a key's unrevoked credentials. Throws `not_found`, or `invalid_transition` if all are revoked. */
function requireKey(state: Credentials, id: string): readonly [Credential, ...Credential[]] {
  const [first, ...others] = state.credentials.filter(({ key_id }) => key_id === id);
  if (first !== undefined) return [first, ...others];
  if (state.revoked.some(({ key_id }) => key_id === id))
    throw new DomainError('invalid_transition', 'The key is revoked');
  throw DomainError.notFound('Key');
}

interface IssueCommand extends Pick<Issued, 'owner_id' | 'kind' | 'is_pending' | 'at'> {
  readonly secret: CredentialSecret;
  readonly terms: Terms;
}

/** Issues a credential; a repeat has no effect. A replacement copies the key and the terms. */
export function issueCredential(command: IssueCommand, state: Credentials): CredentialIssued[] {
  const { owner_id, secret, is_pending, at } = command;
  const { credential_id, sealed_secret, secret_hash } = secret;
  if (isIssued(state, credential_id)) return [];
  const replaced = state.credentials.find(({ replaced_by }) => replaced_by === credential_id);
  const { kind, expires_at } = replaced ?? { kind: command.kind, expires_at: command.terms.expires_at };
  const { owner, nouns, deriveKeyId, readTerms } = KIND_RULES[kind];
  const given = replaced ?? command.terms;
  if (isOver(expires_at, at)) throw DomainError.invalid({ expires_at: ['must be in the future'] });
  const name = given.name ? readLabel('name', given.name, MAX_NAME_LENGTH) : null;
  const key_id = deriveKeyId(credential_id, owner_id, replaced?.key_id ?? null);
  const valid = state.credentials.filter((each) => each.key_id === key_id && isValid(each, at));
  if (valid.length >= MAX_VALID)
    throw new DomainError('invalid_transition', `${MAX_VALID} ${nouns} are valid; revoke one first`);
  if (state.credentials.length >= MAX_KEPT)
    throw new DomainError(
      'invalid_transition',
      `The owner has ${MAX_KEPT} unrevoked keys; revoke expired keys first`,
    );
  const terms = { ...readTerms(given, owner_id), name, expires_at };
  const merchant_id = owner === 'merchant' ? owner_id : null;
  const ids = { owner_id, merchant_id, credential_id, kind, key_id };
  const data = { ...ids, ...terms, sealed_secret, secret_hash, is_pending, at };
  return [{ type: 'credential.issued.v1', data }];
}

export function activateCredential({ credential_id, at }: OneCommand, state: Credentials): CredentialEvent[] {
  const credential = requireCredential(state, credential_id);
  if (!credential.is_pending) return [];
  if (isOver(credential.expires_at, at))
    throw new DomainError('invalid_transition', 'The credential has expired');
  return [{ type: 'credential.activated.v1', data: { ...pickOwner(credential), credential_id, at } }];
}

/** Issues a replacement. The replaced credential expires after the overlap. A repeat changes nothing. */
export function rollCredential(
  command: OneCommand & { secret: CredentialSecret; overlapSeconds: number },
  state: Credentials,
): CredentialEvent[] {
  const { credential_id, secret, overlapSeconds, at } = command;
  const terms = requireCredential(state, credential_id);
  const end = new Date(Date.parse(at) + overlapSeconds * 1000).toISOString();
  const until = terms.expires_at !== null && isOver(terms.expires_at, end) ? terms.expires_at : end;
  const rolled = replaceCredential({ credential_id, replaced_by: secret.credential_id, until, at }, state);
  const issue = { ...terms, terms, secret, is_pending: false, at };
  return [...rolled, ...issueCredential(issue, fold(credentials, rolled, state))];
}

/** Sets the end of a replaced credential. Throws `not_found`, or `invalid_transition` if it is inactive. */
function replaceCredential(
  { credential_id, replaced_by, until, at }: OneCommand & Members<'replaced_by' | 'until'>,
  state: Credentials,
): CredentialEvent[] {
  const credential = requireCredential(state, credential_id);
  const { replaced_by: former, is_pending } = credential;
  if (former === replaced_by) return [];
  // A credential whose replacement was revoked can be replaced again.
  const isReplaced = former !== null && !isRevoked(state, former);
  const usable = isValid(credential, at) ? 'active' : 'expired';
  const status = is_pending ? 'pending' : isReplaced ? 'rolling' : usable;
  if (status !== 'active') throw new DomainError('invalid_transition', `The credential is ${status}`);
  const data = { ...pickOwner(credential), credential_id, replaced_by, until, at };
  return [{ type: 'credential.rolled.v1', data }];
}

/** Revokes a credential. Revoking the last valid secret of an exchange key revokes the whole key. */
export function revokeCredential({ credential_id, at }: OneCommand, state: Credentials): CredentialEvent[] {
  if (isRevoked(state, credential_id)) return [];
  const credential = requireCredential(state, credential_id);
  const { kind, key_id } = credential;
  const others = state.credentials.filter((each) => each.key_id === key_id && each !== credential);
  const ends = KIND_RULES[kind].endsWithLast && !others.some((each) => isValid(each, at));
  const ids = [credential_id, ...(ends ? others.map((each) => each.credential_id) : [])];
  const owner = pickOwner(credential);
  return ids.map((id) => ({ type: 'credential.revoked.v1', data: { ...owner, credential_id: id, at } }));
}

export function restrictKey(
  { key_id, addresses, at }: { key_id: string; addresses: readonly string[]; at: string },
  state: Credentials,
): CredentialEvent[] {
  const [first] = requireKey(state, key_id);
  if (addresses.join() === first.addresses.join()) return [];
  return [{ type: 'credential.restricted.v1', data: { ...pickOwner(first), key_id, addresses, at } }];
}

/** Sets the pay page of a key. Throws `validation_failed` for a logo or link that a page may not display. */
export function setPage(
  { key_id, page, at }: { key_id: string; page: PayPageSettings; at: string },
  state: Credentials,
): CredentialEvent[] {
  const [first] = requireKey(state, key_id);
  checkPage(page);
  const { logo, help_url, terms_url } = page;
  const next = { logo, help_url, terms_url };
  if (JSON.stringify(next) === JSON.stringify(state.pages[key_id] ?? NO_PAGE_SETTINGS)) return [];
  return [{ type: 'credential.page_set.v1', data: { ...pickOwner(first), key_id, ...next, at } }];
}

export const credentialHistory = historyRules(
  credentials,
  {
    'credential.issued.v1': (data, state) => issueCredential({ ...data, secret: data, terms: data }, state),
    'credential.activated.v1': activateCredential,
    'credential.rolled.v1': replaceCredential,
    'credential.revoked.v1': revokeCredential,
    'credential.restricted.v1': restrictKey,
    'credential.page_set.v1': (data, state) => setPage({ ...data, page: data }, state),
  },
  { id: 'owner_id' },
);
