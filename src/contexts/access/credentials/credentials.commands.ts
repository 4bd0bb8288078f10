import { CommandHandler } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { deriveId } from '../../../kernel/ids.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import {
  Operation,
  OperatorCommand,
  type AnyCommand,
  type OperationHandler,
  type OperationProgress,
} from '../../../platform/operations/operation.js';
import type { Requester } from '../../../platform/operations/operations.js';
import {
  KIND_RULES,
  NO_LIMITS,
  readScopes,
  type CredentialKind,
  type Terms,
  type PayPageSettings,
} from './credential-kinds.js';
import {
  activateCredential,
  credentials,
  findEnd,
  isIssued,
  isRevoked,
  issueCredential,
  requireCredential,
  revokeCredential,
  rollCredential,
  type Credential,
  type Credentials,
  restrictKey,
  setPage,
} from './credentials.js';
import { merchant, requireMerchant } from '../merchants/merchant.js';
import { requireOperator, operatorPerson } from '../operators/operator.js';
import { ROLE_SCOPES } from '../operators/roles.js';
import { AccessCommands, decisionHandler } from '../merchants/merchants.commands.js';
import { areWithin, canonicalCidrs } from './allow-lists.service.js';
import { CredentialSecrets, type CredentialWithSecret } from './credential-secrets.service.js';

/** The owner of a credential; exactly one of the ids is set (admin-api.md 3). */
type CredentialOwner = Readonly<Record<'merchant_id' | 'operator_id', string | null>>;

export interface CredentialSubject extends CredentialOwner {
  readonly kind: CredentialKind;
  readonly api_key: string | null;
}

export interface IssueParameters extends CredentialSubject, Omit<Terms, 'name' | 'scopes'> {
  readonly name: string;
  /** The scopes; null means those of the person's current role. */
  readonly scopes: readonly string[] | null;
}

/** Returns the parameters of an unlimited credential, overridden by the given members. */
export function plainOrder({
  kind,
  ...given
}: Pick<IssueParameters, 'kind'> & Partial<IssueParameters>): IssueParameters {
  const owner = { merchant_id: null, api_key: null, operator_id: null };
  return { kind, name: '', ...owner, ...NO_LIMITS, ...given };
}

function requireOwner({ merchant_id, operator_id }: CredentialOwner): string {
  const id = merchant_id ?? operator_id;
  if (id === null) throw DomainError.notFound('Credential');
  return id;
}

/** Returns the streams whose revisions form the revision of a credential. */
export function credentialStreams(owner: CredentialOwner): string[] {
  return [`${credentials.category}-${requireOwner(owner)}`];
}

const CREDENTIAL = {
  subject: 'credential',
  scope: 'credentials:write',
  streams: (_: string, owner: CredentialOwner) => credentialStreams(owner),
} as const;

/** A command that the portal can also execute without an operation, with `cause` to identify the person. */
abstract class CredentialCommand<P extends object, R extends object | void = void> extends OperatorCommand<
  P,
  R
> {
  cause?: EventMetadata;
}

type By = Pick<Requester, 'operatorId' | 'credentialId'>;
type OwnTerms = Pick<Credential, 'credential_id' | 'merchants' | 'addresses' | 'expires_at'>;

/** Throws `forbidden` for another person's key, or for terms that exceed those of the requesting key. */
async function requireOwnKey(
  { operatorId, credentialId }: By,
  ownerId: string | null,
  key: OwnTerms,
  access: AccessCommands,
): Promise<true> {
  if (operatorId === null || ownerId !== operatorId)
    throw new DomainError('forbidden', 'Only the owner of an admin key may issue or roll it');
  if (credentialId === null || credentialId === key.credential_id) return true;
  const used = requireCredential(await access.load(credentials, operatorId), credentialId);
  const { merchants, addresses } = used;
  const end = findEnd(used);
  const exceeds = {
    merchants: merchants !== null && !(key.merchants?.every((each) => merchants.includes(each)) ?? false),
    addresses: addresses.length > 0 && !(key.addresses.length > 0 && areWithin(key.addresses, addresses)),
    expires_at: end !== null && !(key.expires_at !== null && Date.parse(key.expires_at) <= Date.parse(end)),
  };
  const [exceeded] = Object.entries(exceeds).find(([, is]) => is) ?? [];
  if (exceeded === undefined) return true;
  throw new DomainError('forbidden', `The key would exceed the ${exceeded} of the key that requests it`);
}

/** Issues a credential. Throws `not_found`, `forbidden`, or `invalid_transition` if two secrets are valid. */
@Operation<IssueParameters>({
  ...CREDENTIAL,
  name: 'credentials.issue',
  secondPerson: 'depends',
  // A new credential has no revision. Its approval must not fail if other credentials of the owner change.
  streams: () => [],
})
export class IssueCredential extends CredentialCommand<IssueParameters, CredentialWithSecret> {}

@CommandHandler(IssueCredential)
export class IssueCredentialHandler implements OperationHandler<IssueCredential> {
  constructor(
    private readonly access: AccessCommands,
    private readonly secrets: CredentialSecrets,
  ) {}

  async secondPerson({ parameters: { kind } }: IssueCredential): Promise<'before' | null> {
    return KIND_RULES[kind].owner === 'operator' ? 'before' : null;
  }

  async own({ subjectId: credential_id, parameters }: IssueCredential, by: By): Promise<boolean> {
    const { kind, operator_id } = parameters;
    return kind === 'admin' && requireOwnKey(by, operator_id, { ...parameters, credential_id }, this.access);
  }

  async grants({ parameters: { kind, scopes, operator_id } }: IssueCredential): Promise<readonly string[]> {
    if (kind !== 'admin') return [];
    if (scopes !== null) return readScopes(scopes);
    const state = await this.access.load(operatorPerson, operator_id ?? '');
    return state.status === 'unknown' ? [] : ROLE_SCOPES[state.role];
  }

  /** Issues a pending credential while the operation waits. Revokes it if the operation ends unexecuted. */
  async follow(command: IssueCredential, { status }: OperationProgress): Promise<CredentialWithSecret> {
    const { subjectId: id } = command;
    const owner = requireOwner(command.parameters);
    const state = await this.access.load(credentials, owner);
    const isPending = state.credentials.some((each) => each.credential_id === id && each.is_pending);
    if (status === 'pending' && !isIssued(state, id)) await this.issue(command, true);
    if (status === 'ended' && isPending)
      await this.access.change(credentials, owner, (current, at) => revoke(command, current, at));
    return this.secrets.issued(id);
  }

  async execute(command: IssueCredential): Promise<CredentialWithSecret> {
    const { subjectId: credential_id, parameters } = command;
    const owner = requireOwner(parameters);
    if (isIssued(await this.access.load(credentials, owner), credential_id)) {
      if (parameters.kind === 'admin') await this.requireActive(owner);
      await this.access.change(credentials, owner, (state, at) =>
        activateCredential({ credential_id, at }, state),
      );
    } else await this.issue(command, false);
    return this.secrets.issued(credential_id);
  }

  private async issue({ subjectId, parameters, cause }: IssueCredential, is_pending: boolean): Promise<void> {
    const { kind, scopes } = parameters;
    const owner_id = requireOwner(parameters);
    const ofRole = KIND_RULES[kind].owner === 'operator' ? await this.requireActive(owner_id) : [];
    if (KIND_RULES[kind].owner === 'merchant') requireMerchant(await this.access.load(merchant, owner_id));
    const given = scopes === null ? ofRole : readScopes(scopes);
    const lacking = given.find((scope) => !ofRole.includes(scope));
    if (lacking !== undefined) throw new DomainError('forbidden', `The scope ${lacking} is missing`);
    const secret = await this.secrets.obtain(kind, owner_id, subjectId);
    const terms = { ...parameters, scopes: given, addresses: canonicalCidrs(parameters.addresses) };
    await this.access.change(
      credentials,
      owner_id,
      (state, at) => issueCredential({ owner_id, kind, terms, secret, is_pending, at }, state),
      { cause },
    );
  }

  /** Returns the scopes of the person's role. Throws `not_found`, or `invalid_transition` if disabled. */
  private async requireActive(operatorId: string): Promise<readonly string[]> {
    const { status, role } = requireOperator(await this.access.load(operatorPerson, operatorId));
    if (status === 'disabled') throw new DomainError('invalid_transition', 'The operator is disabled');
    return ROLE_SCOPES[role];
  }
}

/** Replaces a key. Throws `not_found`, or `invalid_transition` if it is inactive or has two valid secrets. */
@Operation({ ...CREDENTIAL, name: 'credentials.roll' })
export class RollCredential extends OperatorCommand<
  CredentialSubject & { readonly overlap_seconds: number },
  CredentialWithSecret
> {}

@CommandHandler(RollCredential)
export class RollCredentialHandler implements OperationHandler<RollCredential> {
  constructor(
    private readonly access: AccessCommands,
    private readonly secrets: CredentialSecrets,
  ) {}

  /** Checks by events that the caller owns the key, because a row of the read model may be forged. */
  async own(command: RollCredential, by: By): Promise<boolean> {
    const { state, found } = await this.find(command);
    if (found !== undefined)
      return found.kind === 'admin' && requireOwnKey(by, found.owner_id, found, this.access);
    return isRevoked(state, command.subjectId) && requireOwner(command.parameters) === by.operatorId;
  }

  async grants(command: RollCredential): Promise<readonly string[]> {
    return (await this.find(command)).found?.scopes ?? [];
  }

  follow(command: RollCredential): Promise<CredentialWithSecret> {
    return this.secrets.issued(nextId(command));
  }

  async execute(command: RollCredential): Promise<CredentialWithSecret> {
    const { subjectId: credential_id, parameters } = command;
    const { kind, owner_id } = requireCredential((await this.find(command)).state, credential_id);
    const secret = await this.secrets.obtain(kind, owner_id, nextId(command));
    const roll = { credential_id, secret, overlapSeconds: parameters.overlap_seconds };
    await this.access.change(credentials, owner_id, (state, at) => rollCredential({ ...roll, at }, state));
    return this.follow(command);
  }

  private async find({ subjectId, parameters }: RollCredential) {
    const state = await this.access.load(credentials, requireOwner(parameters));
    return { state, found: state.credentials.find(({ credential_id }) => credential_id === subjectId) };
  }
}

function nextId({ operation }: RollCredential): string {
  return deriveId(operation!.id, 'credential');
}

/** Revokes a credential. Throws `not_found`, or `invalid_transition` if it is revoked already. */
@Operation({ ...CREDENTIAL, name: 'credentials.revoke' })
export class RevokeCredential extends CredentialCommand<CredentialOwner> {}

/** Revokes a leaked credential. It is no error if the credential is revoked already. */
@Operation({ ...CREDENTIAL, name: 'credentials.revoke_leaked' })
export class RevokeLeakedCredential extends CredentialCommand<CredentialOwner & { readonly url: string }> {}

const KEY = { ...CREDENTIAL, subject: 'exchange_key' } as const;

/** Sets the networks that may use a key (empty: all). Throws `not_found` or `invalid_transition`. */
@Operation({ ...KEY, name: 'credentials.restrict' })
export class RestrictKey extends OperatorCommand<
  CredentialOwner & { readonly addresses: readonly string[] }
> {}

/** Sets a key's pay page. Throws `not_found`, `validation_failed`, or `invalid_transition` if revoked. */
@Operation({ ...KEY, name: 'credentials.set_page' })
export class SetKeyPage extends OperatorCommand<CredentialOwner & { readonly page: PayPageSettings }> {}

const ofOwner = {
  id: ({ parameters }: { readonly parameters: CredentialOwner }) => requireOwner(parameters),
};

const revoke = ({ subjectId: credential_id }: AnyCommand, state: Credentials, at: string) =>
  revokeCredential({ credential_id, at }, state);
const restrict = ({ subjectId: key_id, parameters }: RestrictKey, state: Credentials, at: string) =>
  restrictKey({ key_id, addresses: canonicalCidrs(parameters.addresses), at }, state);
const setKeyPage = ({ subjectId: key_id, parameters }: SetKeyPage, state: Credentials, at: string) =>
  setPage({ key_id, page: parameters.page, at }, state);

export const RevokeCredentialHandler = decisionHandler(RevokeCredential, credentials, revoke, {
  ...ofOwner,
  check: ({ subjectId }, state) => {
    if (isRevoked(state, subjectId)) throw new DomainError('invalid_transition', 'The credential is revoked');
  },
});

export const CREDENTIAL_HANDLERS = [
  IssueCredentialHandler,
  RollCredentialHandler,
  RevokeCredentialHandler,
  decisionHandler(RevokeLeakedCredential, credentials, revoke, ofOwner),
  decisionHandler(RestrictKey, credentials, restrict, ofOwner),
  decisionHandler(SetKeyPage, credentials, setKeyPage, {
    ...ofOwner,
    check: (command, state) => setKeyPage(command, state, ''),
  }),
];
