import { CommandBus, CommandHandler } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { deriveId } from '../../../kernel/ids.js';
import { Operation, OperatorCommand, type OperationHandler } from '../../../platform/operations/operation.js';
import type { Requester } from '../../../platform/operations/operations.js';
import {
  activateAdminKey,
  adminKey,
  knownAdminKey,
  readScopes,
  revokeAdminKey,
  type AdminKeyTerms,
} from '../domain/admin-key.js';
import { rollSecret } from '../domain/credential.js';
import { exchangeKey, type MemoSigning } from '../domain/exchange-key.js';
import { merchant } from '../domain/merchant.js';
import { operatorPerson } from '../domain/operator.js';
import { ROLE_SCOPES } from '../domain/roles.js';
import { AccessCommands, AGGREGATES } from './access-commands.js';
import { IssueAdminKey, RollAdminKey } from './admin-key-commands.js';
import { areWithin } from './allow-lists.js';
import { CredentialSecrets } from './credential-secrets.js';
import { IssueExchangeKey, RevokeExchangeSecret } from './exchange-key-commands.js';
import { IssueSecret, RevokeSecret } from './secret-commands.js';

/** What a credential is a part of (admin-api.md 3). */
export interface CredentialHolder {
  readonly kind: 'payouts' | 'exchange' | 'admin';
  readonly merchant_id: string | null;
  /** Of the exchange. */
  readonly api_key: string | null;
}

export interface IssueParameters extends CredentialHolder {
  readonly name: string;
  readonly operator_id: string | null;
  readonly scopes: readonly string[] | null;
  readonly merchants: readonly string[] | null;
  readonly addresses: readonly string[];
  readonly withdraw_addresses: readonly string[];
  readonly demands_signing: boolean;
  readonly memo_signing: MemoSigning;
  readonly expires_at: string | null;
}

/** The secret of a new credential, for the response alone. */
export interface IssuedCredential {
  readonly credential_id: string;
  /** Null a day after it was requested. */
  readonly secret: string | null;
}

/** The streams whose events are the revision of a credential. */
export function credentialStreams(id: string, { kind, merchant_id, api_key }: CredentialHolder): string[] {
  if (kind === 'admin') return [`admin_key-${id}`];
  return kind === 'payouts' ? [`merchant-${merchant_id}`] : [`exchange_key-${api_key}`];
}

/** The `api_key` of an exchange key that is issued with this credential. */
export function exchangeKeyIdOf(credentialId: string): string {
  return deriveId(credentialId, 'exchange key');
}

const CREDENTIAL = { subject: 'credential', scope: 'credentials:write', streams: credentialStreams } as const;

type OwnedTerms = Pick<AdminKeyTerms, 'merchants' | 'addresses' | 'expiresAt'> & {
  readonly id: string;
  readonly owner: string | null;
};

/**
 * An admin key is requested by its own person, with a session, the key itself or another one that is not exceeded. Throws
 * `forbidden`.
 */
async function requireOwnKey(
  { operatorId, credentialId }: Pick<Requester, 'operatorId' | 'credentialId'>,
  key: OwnedTerms,
  access: AccessCommands,
): Promise<true> {
  if (operatorId === null || key.owner !== operatorId)
    throw new DomainError('forbidden', 'An admin key is issued and rolled by its own person');
  if (credentialId === null || credentialId === key.id) return true;
  const { issued, endsAt } = knownAdminKey(await access.load(adminKey, credentialId));
  const { merchants, addresses } = issued;
  const exceeds = {
    merchants: merchants !== null && !(key.merchants?.every((each) => merchants.includes(each)) ?? false),
    addresses: addresses.length > 0 && !(key.addresses.length > 0 && areWithin(key.addresses, addresses)),
    expires_at:
      endsAt !== null && !(key.expiresAt !== null && Date.parse(key.expiresAt) <= Date.parse(endsAt)),
  };
  const [exceeded] = Object.entries(exceeds).find(([, is]) => is) ?? [];
  if (exceeded === undefined) return true;
  throw new DomainError('forbidden', `The ${exceeded} would exceed those of the key that requests it`);
}

/** A new credential. Throws what {@link IssueSecret}, {@link IssueExchangeKey} or {@link IssueAdminKey} throws. */
@Operation<IssueParameters>({
  ...CREDENTIAL,
  name: 'credentials.issue',
  secondPerson: 'depends',
  // A new credential has no revision; an admin key exists before it is approved.
  streams: (id, { kind }) => (kind === 'admin' ? [`admin_key-${id}`] : []),
})
export class IssueCredential extends OperatorCommand<IssueParameters, IssuedCredential | void> {}

@CommandHandler(IssueCredential)
export class IssueCredentialHandler implements OperationHandler<IssueCredential> {
  constructor(
    private readonly access: AccessCommands,
    private readonly secrets: CredentialSecrets,
    private readonly bus: CommandBus,
  ) {}

  async secondPerson({ parameters }: IssueCredential): Promise<'before' | null> {
    return parameters.kind === 'admin' ? 'before' : null;
  }

  async own(
    { subjectId: id, parameters }: IssueCredential,
    by: Pick<Requester, 'operatorId' | 'credentialId'>,
  ): Promise<boolean> {
    const { kind, operator_id: owner, expires_at: expiresAt, merchants, addresses } = parameters;
    return kind === 'admin' && requireOwnKey(by, { id, owner, merchants, addresses, expiresAt }, this.access);
  }

  async grants({ parameters: { kind, scopes, operator_id } }: IssueCredential): Promise<readonly string[]> {
    if (kind !== 'admin') return [];
    if (scopes !== null) return readScopes(scopes);
    const state = await this.access.load(operatorPerson, operator_id ?? '');
    return state.status === 'unknown' ? [] : ROLE_SCOPES[state.role];
  }

  async prepare({ subjectId, parameters }: IssueCredential): Promise<IssuedCredential> {
    if (!(await this.isIssued(subjectId))) await this.issueAdmin(subjectId, parameters, true);
    return this.repeat({ subjectId });
  }

  async discard({ subjectId }: IssueCredential): Promise<void> {
    if (await this.isIssued(subjectId))
      await this.access.change(adminKey, subjectId, (state, at) => revokeAdminKey({ at }, state));
  }

  async execute({ subjectId, parameters }: IssueCredential): Promise<IssuedCredential | void> {
    const { kind, merchant_id, name, expires_at: expiresAt } = parameters;
    if (kind === 'admin' && (await this.isIssued(subjectId))) {
      const { status } = await this.access.load(operatorPerson, parameters.operator_id!);
      if (status === 'disabled') throw new DomainError('invalid_transition', 'The operator is disabled');
      await this.access.change(adminKey, subjectId, (state, at) => activateAdminKey({ at }, state));
      return;
    }
    if (kind === 'admin') await this.issueAdmin(subjectId, parameters, false);
    else if (kind === 'payouts') {
      const order = { secretId: subjectId, name, expiresAt };
      await this.bus.execute(new IssueSecret('api_key', merchant_id!, order));
    } else {
      const { demands_signing, memo_signing, addresses: cidrs, withdraw_addresses } = parameters;
      const order = {
        ...{ keyId: parameters.api_key, secretId: subjectId, name, expiresAt },
        ...{ cidrs, withdrawAddresses: withdraw_addresses },
      };
      const label = name === '' ? null : name;
      await this.bus.execute(new IssueExchangeKey(merchant_id!, demands_signing, label, memo_signing, order));
    }
    return this.repeat({ subjectId });
  }

  async repeat({ subjectId: id }: Pick<IssueCredential, 'subjectId'>): Promise<IssuedCredential> {
    return { credential_id: id, secret: await this.secrets.issued(id) };
  }

  private async isIssued(id: string): Promise<boolean> {
    return (await this.access.load(adminKey, id)).status !== 'unknown';
  }

  private async issueAdmin(id: string, parameters: IssueParameters, isPending: boolean): Promise<void> {
    const { operator_id, name, scopes, merchants, addresses, expires_at: expiresAt } = parameters;
    const order = { operatorId: operator_id!, name, scopes, merchants, addresses, expiresAt };
    await this.bus.execute(new IssueAdminKey(id, order, isPending));
  }
}

/**
 * A credential with the name and expiry of the subject replaces that, which ends after the overlap. Throws `not_found`, or
 * `invalid_transition` for one that is not active, and beyond two valid ones.
 */
@Operation({ ...CREDENTIAL, name: 'credentials.roll' })
export class RollCredential extends OperatorCommand<
  CredentialHolder & { readonly overlap_seconds: number },
  IssuedCredential
> {}

@CommandHandler(RollCredential)
export class RollCredentialHandler implements OperationHandler<RollCredential> {
  constructor(
    private readonly access: AccessCommands,
    private readonly secrets: CredentialSecrets,
    private readonly bus: CommandBus,
  ) {}

  async own(
    { subjectId: id, parameters: { kind } }: RollCredential,
    by: Pick<Requester, 'operatorId' | 'credentialId'>,
  ): Promise<boolean> {
    if (kind !== 'admin') return false;
    const { operator_id: owner, expires_at: expiresAt, ...terms } = await this.issued(id);
    return requireOwnKey(by, { ...terms, id, owner, expiresAt }, this.access);
  }

  async grants({ subjectId, parameters: { kind } }: RollCredential): Promise<readonly string[]> {
    return kind === 'admin' ? (await this.issued(subjectId)).scopes : [];
  }

  async execute(command: RollCredential): Promise<IssuedCredential> {
    const { operation, subjectId: secretId, parameters } = command;
    const { kind: holder, merchant_id, api_key, overlap_seconds: overlapSeconds } = parameters;
    const next = deriveId(operation!.id, 'credential');
    if (holder === 'admin') await this.bus.execute(new RollAdminKey(secretId, next, overlapSeconds));
    else {
      const [kind, id] =
        holder === 'payouts' ? (['api_key', merchant_id!] as const) : (['exchange_key', api_key!] as const);
      await this.access.issue(
        kind,
        AGGREGATES[kind],
        id,
        (state, at, secret) => rollSecret(kind, { secretId, secret, overlapSeconds, at }, state),
        next,
      );
    }
    return this.repeat(command);
  }

  async repeat({ operation }: RollCredential): Promise<IssuedCredential> {
    const id = deriveId(operation!.id, 'credential');
    return { credential_id: id, secret: await this.secrets.issued(id) };
  }

  /** The events' facts of an admin key. Throws `not_found`. */
  private async issued(id: string) {
    return knownAdminKey(await this.access.load(adminKey, id)).issued;
  }
}

/** For good. Throws `not_found`, and `invalid_transition` for one that is revoked. */
@Operation({ ...CREDENTIAL, name: 'credentials.revoke' })
export class RevokeCredential extends OperatorCommand<CredentialHolder> {}

/** As {@link RevokeCredential}, also where it is revoked already. */
@Operation({ ...CREDENTIAL, name: 'credentials.revoke_leaked' })
export class RevokeLeakedCredential extends OperatorCommand<CredentialHolder & { readonly url: string }> {}

@CommandHandler(RevokeLeakedCredential)
class RevokeLeakedCredentialHandler implements OperationHandler<RevokeLeakedCredential> {
  constructor(
    protected readonly access: AccessCommands,
    private readonly bus: CommandBus,
  ) {}

  async execute({ subjectId: id, parameters }: OperatorCommand<CredentialHolder>): Promise<void> {
    const { kind, merchant_id, api_key } = parameters;
    if (kind === 'admin')
      await this.access.change(adminKey, id, (state, at) => revokeAdminKey({ at }, state));
    else if (kind === 'payouts') await this.bus.execute(new RevokeSecret('api_key', merchant_id!, id));
    else await this.bus.execute(new RevokeExchangeSecret(api_key!, id));
  }
}

@CommandHandler(RevokeCredential)
export class RevokeCredentialHandler
  extends RevokeLeakedCredentialHandler
  implements OperationHandler<RevokeCredential>
{
  async check({ subjectId, parameters }: RevokeCredential): Promise<void> {
    if (await this.isRevoked(subjectId, parameters))
      throw new DomainError('invalid_transition', 'The credential is revoked');
  }

  private async isRevoked(id: string, { kind, merchant_id, api_key }: CredentialHolder): Promise<boolean> {
    if (kind === 'admin') return (await this.access.load(adminKey, id)).status === 'revoked';
    const state = await (kind === 'payouts'
      ? this.access.load(merchant, merchant_id!)
      : this.access.load(exchangeKey, api_key!));
    return state.status === 'revoked' || (state.status !== 'unknown' && state.revokedSecrets.includes(id));
  }
}

export const CREDENTIAL_HANDLERS = [
  IssueCredentialHandler,
  RevokeCredentialHandler,
  RevokeLeakedCredentialHandler,
  RollCredentialHandler,
];
