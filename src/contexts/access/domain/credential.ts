import { DAY_MS } from '../../../kernel/clock.js';
import type { DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { readLabel } from '../../../kernel/text.js';
import { rolledUntil, isOver } from './validity.js';

/** How long the response to a repeated request has the secret (admin-api.md 3). */
export const SECRET_DISPLAYED_MS = DAY_MS;

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
    secretRolled: 'merchant.key_rolled.v1',
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
    secretRolled: 'exchange_key.secret_rolled.v1',
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
      Ids<Kind> & Members<Kinds[Kind]['secretId'] | Kinds[Kind]['sealed'] | 'issued_at'> & SecretFacts
    >
  /** Another secret replaces it; it is valid until then. */
  | DomainEvent<
      Kinds[Kind]['secretRolled'],
      Ids<Kind> & Members<Kinds[Kind]['secretId'] | 'replaced_by' | 'until' | 'at'>
    >
  | DomainEvent<Kinds[Kind]['secretRevoked'], Ids<Kind> & Members<Kinds[Kind]['secretId'] | 'revoked_at'>>
  | DomainEvent<
      Kinds[Kind]['addressesSet'],
      Ids<Kind> & Members<'at'> & { readonly cidrs: readonly string[] }
    >;

/** Absent in events of earlier versions, and where there is nothing to say. */
type SecretFacts = {
  readonly secret_hash?: string;
  readonly name?: string;
  readonly expires_at?: string;
};

/** A rotation overlaps the old secret with the new one, and no more (contract.md 2.6, 21.7). */
const MAX_VALID_SECRETS = 2;
const MAX_NAME_LENGTH = 255;

export type Credential = { readonly status: 'unknown' } | KnownCredential;
export interface KnownCredential {
  readonly status: 'active' | 'suspended' | 'revoked';
  /** As in its events. */
  readonly ids: { readonly merchant_id: string; readonly key_id?: string };
  /** Those that are not revoked; some may be over. */
  readonly secrets: readonly KnownSecret[];
  readonly revokedSecrets: readonly string[];
  readonly cidrs: readonly string[];
}
export const NEW_CREDENTIAL = { status: 'active', secrets: [], revokedSecrets: [], cidrs: [] } as const;

/** A secret that was issued and not revoked. */
interface KnownSecret {
  readonly id: string;
  readonly name: string | null;
  readonly expiresAt: string | null;
  /** When it ends because another replaces it. */
  readonly rollingUntil: string | null;
  readonly replacedBy: string | null;
}

/** A secret as it may be kept: `sealed` for its credential and its own id. */
export interface NewSecret {
  readonly secretId: string;
  readonly sealed: string;
  readonly hash?: string | undefined;
  readonly name?: string | null | undefined;
  /** ISO 8601; null: never. */
  readonly expiresAt?: string | null | undefined;
}

export function evolveCredential<State extends KnownCredential>(
  kind: CredentialKind,
  state: State,
  event: DomainEvent,
): State {
  const { secretIssued, secretRolled, secretRevoked, addressesSet, secretId } = KINDS[kind];
  const data = event.data as Readonly<Record<string, string>> & { readonly cidrs: readonly string[] };
  const { secrets, revokedSecrets } = state;
  const id = data[secretId]!;
  switch (event.type) {
    case secretIssued: {
      const { name = null, expires_at: expiresAt = null } = data as SecretFacts;
      const secret = { id, name, expiresAt, rollingUntil: null, replacedBy: null };
      return { ...state, secrets: [...secrets, secret] };
    }
    case secretRolled: {
      const [rollingUntil, replacedBy] = [data['until']!, data['replaced_by']!];
      const rolled = secrets.map((each) => (each.id === id ? { ...each, rollingUntil, replacedBy } : each));
      return { ...state, secrets: rolled };
    }
    case secretRevoked:
      return {
        ...state,
        secrets: secrets.filter((each) => each.id !== id),
        revokedSecrets: [...revokedSecrets, id],
      };
    case addressesSet:
      return { ...state, cidrs: data.cidrs };
    default:
      return state;
  }
}

/** The secrets that are neither revoked nor over at this time. */
function validSecrets({ secrets }: Pick<KnownCredential, 'secrets'>, at: string): readonly KnownSecret[] {
  return secrets.filter(({ expiresAt, rollingUntil }) =>
    [expiresAt, rollingUntil].every((end) => end === null || !isOver(end, at)),
  );
}

/** At most {@link MAX_VALID_SECRETS} secrets are valid at a time. */
export function issueSecret<Kind extends CredentialKind>(
  kind: Kind,
  { secret, at }: { secret: NewSecret; at: string },
  state: Credential,
): CredentialEvent<Kind>[] {
  const credential = notRevoked(kind, state);
  const { ids, secrets, revokedSecrets } = credential;
  if ([...secrets.map(({ id }) => id), ...revokedSecrets].includes(secret.secretId)) return [];
  if (validSecrets(credential, at).length >= MAX_VALID_SECRETS) {
    const titles = `${KINDS[kind].secretTitle.toLowerCase()}s`;
    throw new DomainError('invalid_transition', `${MAX_VALID_SECRETS} ${titles} are valid; revoke one first`);
  }
  return [secretIssued(kind, ids, secret, at)];
}

/**
 * `secret` with the name and expiry of another one replaces that, which ends after the overlap, or with its own expiry if
 * that is earlier. The same again changes nothing.
 */
export function rollSecret<Kind extends CredentialKind>(
  kind: Kind,
  command: { secretId: string; secret: NewSecret; overlapSeconds: number; at: string },
  state: Credential,
): CredentialEvent<Kind>[] {
  const { secretId, secret, overlapSeconds, at } = command;
  const { name, expiresAt } = requireSecret(kind, state, secretId);
  const until = rolledUntil(at, overlapSeconds, expiresAt);
  const rolled = endSecret(kind, { secretId, replacedBy: secret.secretId, until, at }, state);
  const after = rolled.reduce((each: Credential, event) => {
    return each.status === 'unknown' ? each : evolveCredential(kind, each, event);
  }, state);
  return [...rolled, ...issueSecret(kind, { secret: { ...secret, name, expiresAt }, at }, after)];
}

/** Throws `not_found`, or `invalid_transition` for a secret that is over, revoked, or has a replacement. */
export function endSecret<Kind extends CredentialKind>(
  kind: Kind,
  { secretId, replacedBy, until, at }: { secretId: string; replacedBy: string; until: string; at: string },
  state: Credential,
): CredentialEvent<Kind>[] {
  const secret = requireSecret(kind, state, secretId);
  const credential = notRevoked(kind, state);
  if (secret.replacedBy === replacedBy) return [];
  const isValid = validSecrets(credential, at).includes(secret);
  // A secret whose replacement is revoked is the only one left: it can be replaced again.
  const isReplaced = secret.replacedBy !== null && !credential.revokedSecrets.includes(secret.replacedBy);
  const status = isReplaced ? 'rolling' : isValid ? 'active' : 'expired';
  if (status !== 'active') throw new DomainError('invalid_transition', `The credential is ${status}`);
  const { secretRolled: type, secretId: member } = KINDS[kind];
  return [eventOf(type, { ...credential.ids, [member]: secretId, replaced_by: replacedBy, until, at })];
}

function requireSecret(kind: CredentialKind, state: Credential, secretId: string): KnownSecret {
  const { secrets, revokedSecrets } = known(kind, state);
  if (revokedSecrets.includes(secretId))
    throw new DomainError('invalid_transition', 'The credential is revoked');
  const secret = secrets.find(({ id }) => id === secretId);
  if (secret === undefined) throw DomainError.notFound(KINDS[kind].secretTitle);
  return secret;
}

/** A repeat changes nothing. */
export function revokeSecret<Kind extends CredentialKind>(
  kind: Kind,
  { secretId, at }: { secretId: string; at: string },
  state: Credential,
): CredentialEvent<Kind>[] {
  const { ids, revokedSecrets } = known(kind, state);
  const { keepsLastSecret, secretId: member, secretRevoked: type } = KINDS[kind];
  if (revokedSecrets.includes(secretId)) return [];
  requireSecret(kind, state, secretId);
  if (keepsLastSecret && isLastSecret(kind, { secretId, at }, state))
    throw new DomainError('invalid_transition', 'It is the last secret: rotate the key first, or revoke it');
  return [eventOf(type, { ...ids, [member]: secretId, revoked_at: at })];
}

/** Whether no other secret is valid. */
export function isLastSecret(
  kind: CredentialKind,
  { secretId, at }: { secretId: string; at: string },
  state: Credential,
): boolean {
  return validSecrets(known(kind, state), at).every(({ id }) => id === secretId);
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
  { secretId, sealed, hash, name, expiresAt }: NewSecret,
  at: string,
): CredentialEvent<Kind> {
  const { secretIssued: type, secretId: id, sealed: text } = KINDS[kind];
  if (expiresAt && isOver(expiresAt, at))
    throw DomainError.invalid({ expires_at: ['must be in the future'] });
  const label = name ? readLabel('name', name, MAX_NAME_LENGTH) : undefined;
  const facts: SecretFacts = {
    ...(hash && { secret_hash: hash }),
    ...(label && { name: label }),
    ...(expiresAt && { expires_at: expiresAt }),
  };
  return eventOf(type, { ...ids, [id]: secretId, [text]: sealed, issued_at: at, ...facts });
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
