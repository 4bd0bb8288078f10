import type { DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';

/**
 * The kinds of credentials. Their rules are the same; what each is called in stored events and in errors, and where a
 * rule differs, is data.
 */
export const KINDS = {
  /** What a merchant signs its calls with: the id of the merchant is the `svc-api-key`. */
  api_key: {
    title: 'Merchant',
    secretTitle: 'Private key',
    /** The member of its events that names the stream. */
    id: 'merchant_id',
    /** The members that the events of a secret have. */
    secretId: 'key_id',
    sealed: 'sealed_private_key',
    secretIssued: 'merchant.key_issued.v1',
    secretRevoked: 'merchant.key_revoked.v1',
    addressesSet: 'merchant.ip_allow_list_set.v1',
    /** A leaked key must be stoppable at once, and nothing else of the merchant with it. */
    keepsLastSecret: false,
  },
  /** The `api_key` of the exchange API. */
  exchange_key: {
    title: 'Key',
    secretTitle: 'Secret',
    id: 'key_id',
    secretId: 'secret_id',
    sealed: 'sealed_secret',
    secretIssued: 'exchange_key.secret_issued.v1',
    secretRevoked: 'exchange_key.secret_revoked.v1',
    addressesSet: 'exchange_key.addresses_set.v1',
    /** Without a secret it could sign nothing. One that leaked is replaced first, or the key is revoked. */
    keepsLastSecret: true,
  },
} as const;

type Kinds = typeof KINDS;
export type CredentialKind = keyof Kinds;

type Members<Name extends string> = Readonly<Record<Name, string>>;
/** Those that every event of a credential has. */
type Ids<Kind extends CredentialKind> = Members<'merchant_id' | Kinds[Kind]['id']>;

/** What happens to credentials of every kind. `cidrs` empty: calls may come from anywhere. */
export type CredentialEvent<Kind extends CredentialKind> =
  | DomainEvent<
      Kinds[Kind]['secretIssued'],
      Ids<Kind> & Members<Kinds[Kind]['secretId'] | Kinds[Kind]['sealed'] | 'issued_at'>
    >
  | DomainEvent<Kinds[Kind]['secretRevoked'], Ids<Kind> & Members<Kinds[Kind]['secretId'] | 'revoked_at'>>
  | DomainEvent<
      Kinds[Kind]['addressesSet'],
      Ids<Kind> & Members<'at'> & { readonly cidrs: readonly string[] }
    >;

/** A rotation overlaps the old secret with the new one, and no more (contract.md 2.6, 21.7). */
const MAX_VALID_SECRETS = 2;

export type Credential = { readonly status: 'unknown' } | KnownCredential;
export interface KnownCredential {
  readonly status: 'active' | 'suspended' | 'revoked';
  /** As in its events. */
  readonly ids: { readonly merchant_id: string; readonly key_id?: string };
  readonly validSecrets: readonly string[];
  readonly revokedSecrets: readonly string[];
  readonly cidrs: readonly string[];
}
export const NEW_CREDENTIAL = { status: 'active', validSecrets: [], revokedSecrets: [], cidrs: [] } as const;

/** A secret as it may be kept: `sealed` for its credential and its own id. */
export interface NewSecret {
  readonly secretId: string;
  readonly sealed: string;
}

export function evolveCredential<State extends KnownCredential>(
  kind: CredentialKind,
  state: State,
  event: DomainEvent,
): State {
  const { secretIssued, secretRevoked, addressesSet, secretId } = KINDS[kind];
  const data = event.data as Readonly<Record<string, string>> & { readonly cidrs: readonly string[] };
  const { validSecrets, revokedSecrets } = state;
  const id = data[secretId]!;
  switch (event.type) {
    case secretIssued:
      return { ...state, validSecrets: [...validSecrets, id] };
    case secretRevoked:
      return {
        ...state,
        validSecrets: validSecrets.filter((each) => each !== id),
        revokedSecrets: [...revokedSecrets, id],
      };
    case addressesSet:
      return { ...state, cidrs: data.cidrs };
    default:
      return state;
  }
}

/** At most {@link MAX_VALID_SECRETS} secrets are valid at a time. */
export function issueSecret<Kind extends CredentialKind>(
  kind: Kind,
  { secret, at }: { secret: NewSecret; at: string },
  state: Credential,
): CredentialEvent<Kind>[] {
  const { ids, validSecrets } = notRevoked(kind, state);
  if (validSecrets.includes(secret.secretId)) return [];
  if (validSecrets.length >= MAX_VALID_SECRETS) {
    const titles = `${KINDS[kind].secretTitle.toLowerCase()}s`;
    throw new DomainError('invalid_transition', `${MAX_VALID_SECRETS} ${titles} are valid; revoke one first`);
  }
  return [secretIssued(kind, ids, secret, at)];
}

/** A repeat changes nothing. */
export function revokeSecret<Kind extends CredentialKind>(
  kind: Kind,
  { secretId, at }: { secretId: string; at: string },
  state: Credential,
): CredentialEvent<Kind>[] {
  const { ids, validSecrets, revokedSecrets } = known(kind, state);
  const { keepsLastSecret, secretTitle, secretId: member, secretRevoked: type } = KINDS[kind];
  if (revokedSecrets.includes(secretId)) return [];
  if (!validSecrets.includes(secretId)) throw DomainError.notFound(secretTitle);
  if (keepsLastSecret && validSecrets.length === 1)
    throw new DomainError('invalid_transition', 'It is the last secret: rotate the key first, or revoke it');
  return [eventOf(type, { ...ids, [member]: secretId, revoked_at: at })];
}

/** `cidrs` in canonical form; none: anywhere. */
export function setAddresses<Kind extends CredentialKind>(
  kind: Kind,
  { cidrs, at }: { cidrs: readonly string[]; at: string },
  state: Credential,
): CredentialEvent<Kind>[] {
  const { ids, cidrs: before } = notRevoked(kind, state);
  if (cidrs.join() === before.join()) return [];
  return [eventOf(KINDS[kind].addressesSet, { ...ids, cidrs, at })];
}

export function secretIssued<Kind extends CredentialKind>(
  kind: Kind,
  ids: KnownCredential['ids'],
  { secretId, sealed }: NewSecret,
  at: string,
): CredentialEvent<Kind> {
  const { secretIssued: type, secretId: id, sealed: text } = KINDS[kind];
  return eventOf(type, { ...ids, [id]: secretId, [text]: sealed, issued_at: at });
}

/** Its members are named by {@link KINDS}, which no type follows. */
function eventOf<Kind extends CredentialKind>(type: string, data: object): CredentialEvent<Kind> {
  return { type, data } as CredentialEvent<Kind>;
}

/** Throws `not_found`. */
export function known<State extends Credential>(
  kind: CredentialKind,
  state: State,
): Exclude<State, { status: 'unknown' }> {
  if (state.status === 'unknown') throw DomainError.notFound(KINDS[kind].title);
  return state as Exclude<State, { status: 'unknown' }>;
}

/** Throws `not_found`, or `invalid_transition`. */
export function notRevoked<State extends Credential>(
  kind: CredentialKind,
  state: State,
): Exclude<State, { status: 'unknown' }> {
  if (state.status === 'revoked') throw new DomainError('invalid_transition', 'The key is revoked');
  return known(kind, state);
}
