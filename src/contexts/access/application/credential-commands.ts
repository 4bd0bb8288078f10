import { CommandHandler } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { deriveId } from '../../../kernel/ids.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import {
  Operation,
  OperatorCommand,
  type OperationProgress,
  type OperationHandler,
} from '../../../platform/operations/operation.js';
import type { Requester } from '../../../platform/operations/operations.js';
import {
  KIND_RULES,
  readScopes,
  type CredentialKind,
  type Terms,
  type PayPageSettings,
} from '../domain/credential-kinds.js';
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
  restrictKey,
  setPage,
} from '../domain/credentials.js';
import { merchant, requireMerchant } from '../domain/merchant.js';
import { knownOperator, operatorPerson } from '../domain/operator.js';
import { ROLE_SCOPES } from '../domain/roles.js';
import { AccessCommands } from './merchant-commands.js';
import { areWithin, canonicalCidrs } from './allow-lists.js';
import { CredentialSecrets, type CredentialWithSecret } from './credential-secrets.js';

/** The owner of a credential (admin-api.md 3): one of the two. */
interface CredentialOwner {
  readonly merchant_id: string | null;
  readonly operator_id: string | null;
}

export interface CredentialSubject extends CredentialOwner {
  readonly kind: CredentialKind;
  /** The API key of the exchange. */
  readonly api_key: string | null;
}

export interface IssueParameters extends CredentialSubject, Omit<Terms, 'name' | 'scopes'> {
  readonly name: string;
  /** The scopes; null for those of the person's current role. */
  readonly scopes: readonly string[] | null;
}

/** The parameters of a credential without limits, but for what is given. */
export function plainOrder(given: Pick<IssueParameters, 'kind'> & Partial<IssueParameters>): IssueParameters {
  return {
    ...{ kind: given.kind, name: '', merchant_id: null, api_key: null, operator_id: null },
    ...{ scopes: null, merchants: null },
    ...{ addresses: [], withdraw_addresses: [], demands_signing: false, memo_signing: 'contract' as const },
    expires_at: null,
    ...given,
  };
}

/** Returns the id that the stream of the credentials has. Throws `not_found`. */
function requireOwner({ merchant_id, operator_id }: CredentialOwner): string {
  const id = merchant_id ?? operator_id;
  if (id === null) throw DomainError.notFound('Credential');
  return id;
}

/** The streams whose events are the revision of a credential. */
export function credentialStreams(owner: CredentialOwner): string[] {
  return [`${credentials.category}-${requireOwner(owner)}`];
}

const CREDENTIAL = {
  subject: 'credential',
  scope: 'credentials:write',
  streams: (_: string, owner: CredentialOwner) => credentialStreams(owner),
} as const;

/** A command that a person of the merchant sends too, from the portal: then it is no operation, and `cause` is theirs. */
abstract class CredentialCommand<
  Parameters extends object,
  Result extends object | void = void,
> extends OperatorCommand<Parameters, Result> {
  cause?: EventMetadata;
}

type OwnTerms = Pick<Credential, 'credential_id' | 'merchants' | 'addresses' | 'expires_at'>;

/**
 * An admin key is requested by its own person, with a session, the key itself or another one that is not exceeded. Throws
 * `forbidden`.
 */
async function requireOwnKey(
  { operatorId, credentialId }: Pick<Requester, 'operatorId' | 'credentialId'>,
  ownerId: string | null,
  key: OwnTerms,
  access: AccessCommands,
): Promise<true> {
  if (operatorId === null || ownerId !== operatorId)
    throw new DomainError('forbidden', 'An admin key is issued and rolled by its own person');
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
  throw new DomainError('forbidden', `The ${exceeded} would exceed those of the key that requests it`);
}

/**
 * A new credential; the same id is the same again. Throws `not_found` for the owner, `invalid_transition` beyond two valid
 * ones or for a disabled person, `forbidden` for a scope that the person's role lacks, or `validation_failed`.
 */
@Operation<IssueParameters>({
  ...CREDENTIAL,
  name: 'credentials.issue',
  secondPerson: 'depends',
  // A new credential has no revision, and others of its owner may change until it is approved.
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
    return KIND_RULES[kind].needsApproval ? 'before' : null;
  }

  async own(
    { subjectId, parameters }: IssueCredential,
    by: Pick<Requester, 'operatorId' | 'credentialId'>,
  ): Promise<boolean> {
    const key = { ...parameters, credential_id: subjectId };
    return parameters.kind === 'admin' && requireOwnKey(by, parameters.operator_id, key, this.access);
  }

  async grants({ parameters: { kind, scopes, operator_id } }: IssueCredential): Promise<readonly string[]> {
    if (kind !== 'admin') return [];
    if (scopes !== null) return readScopes(scopes);
    const state = await this.access.load(operatorPerson, operator_id ?? '');
    return state.status === 'unknown' ? [] : ROLE_SCOPES[state.role];
  }

  /** While its approval is awaited the credential is pending; it is revoked where that never comes. */
  async follow(command: IssueCredential, { status }: OperationProgress): Promise<CredentialWithSecret> {
    const { subjectId: id, parameters } = command;
    const state = await this.access.load(credentials, requireOwner(parameters));
    const isPending = state.credentials.some((each) => each.credential_id === id && each.is_pending);
    if (status === 'pending' && !isIssued(state, id)) await this.issue(command, true);
    if (status === 'ended' && isPending)
      await this.access.change(credentials, requireOwner(parameters), (current, at) =>
        revokeCredential({ credential_id: id, at }, current),
      );
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

  /** Returns the scopes of the person's role. Throws `not_found`, or `invalid_transition` for a disabled person. */
  private async requireActive(operatorId: string): Promise<readonly string[]> {
    const { status, role } = knownOperator(await this.access.load(operatorPerson, operatorId));
    if (status === 'disabled') throw new DomainError('invalid_transition', 'The operator is disabled');
    return ROLE_SCOPES[role];
  }
}

/**
 * A credential with the terms of the subject replaces that, which ends after the overlap. Throws `not_found`, or
 * `invalid_transition` for one that is not active, and beyond two valid ones.
 */
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

  /** Compares with the owner's events, because a row may be forged. */
  async own(command: RollCredential, by: Pick<Requester, 'operatorId' | 'credentialId'>): Promise<boolean> {
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

/** Revokes a credential for good. Throws `not_found`, and `invalid_transition` for a revoked one. */
@Operation({ ...CREDENTIAL, name: 'credentials.revoke' })
export class RevokeCredential extends CredentialCommand<CredentialOwner> {}

/** Revokes a credential as {@link RevokeCredential} does; a revoked one is no error. */
@Operation({ ...CREDENTIAL, name: 'credentials.revoke_leaked' })
export class RevokeLeakedCredential extends CredentialCommand<CredentialOwner & { readonly url: string }> {}

@CommandHandler(RevokeLeakedCredential)
class RevokeLeakedCredentialHandler implements OperationHandler<RevokeLeakedCredential> {
  constructor(protected readonly access: AccessCommands) {}

  async execute({ subjectId, parameters, cause }: CredentialCommand<CredentialOwner>): Promise<void> {
    await this.access.change(
      credentials,
      requireOwner(parameters),
      (state, at) => revokeCredential({ credential_id: subjectId, at }, state),
      { cause },
    );
  }
}

@CommandHandler(RevokeCredential)
export class RevokeCredentialHandler
  extends RevokeLeakedCredentialHandler
  implements OperationHandler<RevokeCredential>
{
  async check({ subjectId, parameters }: RevokeCredential): Promise<void> {
    if (isRevoked(await this.access.load(credentials, requireOwner(parameters)), subjectId))
      throw new DomainError('invalid_transition', 'The credential is revoked');
  }
}

const KEY = { ...CREDENTIAL, subject: 'exchange_key' } as const;

/**
 * Calls with the key from outside these addresses and CIDR ranges get 403; none: anywhere. Throws `not_found`,
 * `invalid_transition` for a revoked key, or `validation_failed`.
 */
@Operation({ ...KEY, name: 'credentials.restrict' })
export class RestrictKey extends OperatorCommand<
  CredentialOwner & { readonly addresses: readonly string[] }
> {}

@CommandHandler(RestrictKey)
class RestrictKeyHandler implements OperationHandler<RestrictKey> {
  constructor(private readonly access: AccessCommands) {}

  async execute({ subjectId: key_id, parameters }: RestrictKey): Promise<void> {
    const addresses = canonicalCidrs(parameters.addresses);
    await this.access.change(credentials, requireOwner(parameters), (state, at) =>
      restrictKey({ key_id, addresses, at }, state),
    );
  }
}

/** Throws `not_found`, `invalid_transition` for a revoked key, or `validation_failed`. */
@Operation({ ...KEY, name: 'credentials.set_page' })
export class SetKeyPage extends OperatorCommand<CredentialOwner & { readonly page: PayPageSettings }> {}

@CommandHandler(SetKeyPage)
class SetKeyPageHandler implements OperationHandler<SetKeyPage> {
  constructor(private readonly access: AccessCommands) {}

  async execute({ subjectId: key_id, parameters }: SetKeyPage): Promise<void> {
    await this.access.change(credentials, requireOwner(parameters), (state, at) =>
      setPage({ key_id, page: parameters.page, at }, state),
    );
  }
}

export const CREDENTIAL_HANDLERS = [
  IssueCredentialHandler,
  RevokeCredentialHandler,
  RevokeLeakedCredentialHandler,
  RollCredentialHandler,
  RestrictKeyHandler,
  SetKeyPageHandler,
];
