import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import type { AdminCaller } from '../../../platform/http/admin/admin.guard.js';
import { requireReach, requireScopes } from '../../../platform/operations/scopes.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { plainOrder, type CredentialSubject } from './credentials.commands.js';
import {
  KIND_RULES,
  CREDENTIAL_KINDS,
  MEMO_SIGNING,
  type CredentialKind,
  type MemoSigning,
} from './credential-kinds.js';
import { isRole, ROLE_SCOPES } from '../operators/roles.js';
import { CredentialSecrets } from './credential-secrets.service.js';
import { CredentialIndex, AdminCredential } from './credentials.view.js';
import { DIRECTORY_VIEW } from '../merchants/directory.view.js';
import { ApiProperty, Field, Nested, ResourceOf, PageOf } from '../../../platform/dto/field.js';
import { instant, integer, nullable, oneOf, text, TEXT, uuid, UUID } from '../../../platform/dto/rules.js';
import { PendingResponse, WriteBody } from '../../../platform/http/admin/writes.js';
import { label, leakedToken, listOf, networks, place, truth } from '../merchants/rules.dto.js';

const MAX_OVERLAP_SECONDS = 604_800;
const DEFAULT_OVERLAP_SECONDS = 86_400;
const MAY_BE_NULL = { optional: true, nullable: true } as const;

export class NewCredentialBody extends WriteBody {
  @Field(oneOf(CREDENTIAL_KINDS)) kind!: CredentialKind;
  @Field(label) name!: string;
  @Field(uuid, { ...MAY_BE_NULL, description: 'Of kinds payouts and exchange.' })
  merchant_id?: string | null;

  @Field(uuid, { ...MAY_BE_NULL, description: 'Of kind admin: the caller; it may be left out.' })
  operator_id?: string | null;

  @Field(listOf(text()), { ...MAY_BE_NULL, description: "Of kind admin; null: those of the person's role." })
  scopes?: readonly string[] | null;

  @Field(listOf(uuid), { ...MAY_BE_NULL, description: 'Of kind admin; null: all merchants.' })
  merchants?: readonly string[] | null;

  @Field(networks, { optional: true, description: 'Of kinds exchange and admin; empty: from anywhere.' })
  addresses?: readonly string[];

  @Field(listOf(text({ minLength: 1, maxLength: 255 })), {
    optional: true,
    description: 'Of kind exchange: the only addresses that its orders pay out to; empty: any.',
  })
  withdraw_addresses?: readonly string[];

  @Field(truth, { optional: true, description: 'Of kind exchange; true by default.' })
  demands_signing?: boolean;

  @Field(oneOf(MEMO_SIGNING), { optional: true, description: 'Of kind exchange; contract by default.' })
  memo_signing?: MemoSigning;

  @Field(instant, { ...MAY_BE_NULL, description: 'Null: it does not expire.' })
  expires_at?: Date | null;
}

export class RollBody extends WriteBody {
  @Field(integer(0, MAX_OVERLAP_SECONDS), {
    optional: true,
    default: DEFAULT_OVERLAP_SECONDS,
    description: 'Until the old one ends; 0: at once.',
  })
  overlap_seconds!: number;
}

export class LeakedBody extends WriteBody {
  @Field(leakedToken, { description: 'The secret that leaked.' }) token!: string;
  @Field(place, { description: 'Where it was found; its query and fragment are not recorded.' }) url!: string;
}

class NewCredential extends AdminCredential {
  @ApiProperty(nullable(TEXT, 'In this response alone. A replay has it for 24 hours, and null later.'))
  secret!: string | null;
}

export class CredentialResponse extends ResourceOf('credential', AdminCredential) {}

export class CredentialWritten extends CredentialResponse {
  @ApiProperty(UUID) operation_id!: string;
}

export class CredentialCreated extends ResourceOf('credential', NewCredential) {
  @ApiProperty(UUID) operation_id!: string;
}

export class PendingCredential extends PendingResponse {
  @Nested(() => NewCredential) credential!: NewCredential;
}

export class LeakedResponse {
  @ApiProperty(nullable(UUID, 'Null: it is the secret of no credential.'))
  credential_id!: string | null;

  @ApiProperty(nullable(UUID, 'Null: there was nothing to revoke.')) operation_id!: string | null;
}

export class CredentialsResponse extends PageOf('credentials', AdminCredential) {}

type Reach = Pick<AdminCaller, 'merchants'> & { readonly operatorId: string | null };

function isOwn({ operatorId }: Reach, { operator_id }: AdminCredential): boolean {
  return operator_id !== null && operator_id === operatorId;
}

function isWithin(caller: Reach, row: AdminCredential): boolean {
  const { merchants } = caller;
  if (merchants === null) return true;
  if (row.merchant_id !== null) return merchants.includes(row.merchant_id);
  return isOwn(caller, row) && row.merchants !== null && row.merchants.every((id) => merchants.includes(id));
}

function isReached(caller: Reach, row: AdminCredential): boolean {
  return isWithin(caller, row) || isOwn(caller, row);
}

/** Reads up-to-date credentials for the admin API and the portal, and checks orders of new ones. */
@Injectable()
export class AdminCredentials {
  constructor(
    private readonly index: CredentialIndex,
    private readonly secrets: CredentialSecrets,
    private readonly progress: SubscriptionProgress,
  ) {}

  /** Finds a credential. Throws `not_found` unless it is the caller's own or within the caller's reach. */
  async find(id: string, caller: Reach, title = 'Credential'): Promise<AdminCredential> {
    const row = await this.credentialAt(id);
    if (row === null || !isReached(caller, row)) throw DomainError.notFound(title);
    return row;
  }

  /**
   * Finds a credential for display. Throws `not_found` for a credential with access to merchants outside the caller's
   * reach.
   */
  async read(id: string, caller: Reach): Promise<AdminCredential> {
    const row = await this.credentialAt(id);
    if (row === null || !isWithin(caller, row)) throw DomainError.notFound('Credential');
    return row;
  }

  private async credentialAt(id: string): Promise<AdminCredential | null> {
    await this.progress.requireCurrent(DIRECTORY_VIEW);
    return this.index.find(id);
  }

  /** Returns null for a credential that is neither the caller's own nor within the caller's reach. */
  async findBySecret(secret: string, caller: Reach): Promise<AdminCredential | null> {
    await this.progress.requireCurrent(DIRECTORY_VIEW);
    const row = await this.index.findBySecret(this.secrets.toHash(secret));
    return row !== null && isReached(caller, row) ? row : null;
  }

  /**
   * Returns the parameters of `credentials.issue`. Throws `validation_failed` for members that are missing or of another
   * kind, `forbidden` without the scope of the kind, `not_found` for merchants out of the caller's reach.
   */
  async order(id: string, body: NewCredentialBody, caller: AdminCaller) {
    const { kind, merchant_id = null, operator_id = null, merchants = null } = body;
    requireMembers(body);
    // The scope comes first, so that a key without it cannot probe which merchants exist.
    if (kind !== 'admin') requireScopes(caller, ['credentials:write']);
    const named = [...(merchants ?? []), ...(merchant_id ? [merchant_id] : [])];
    // The reach comes first, so that a confined key cannot probe which other merchants exist.
    for (const id of named) requireReach(caller, id, 'Merchant');
    const areKnown = await Promise.all(named.map((each) => this.index.isMerchant(each)));
    if (areKnown.includes(false)) {
      const field = kind === 'admin' ? 'merchants' : 'merchant_id';
      throw DomainError.invalid({ [field]: ['must name merchants that exist'] }).asTransient();
    }
    // Undefined members would replace the defaults.
    const { reason: _, ticket: __, ...given } = JSON.parse(JSON.stringify(body)) as Recorded;
    return plainOrder({
      ...{ demands_signing: true, ...given, api_key: null },
      ...(kind === 'exchange' && { api_key: KIND_RULES.exchange.deriveKeyId(id, '', null) }),
      ...(kind === 'admin' && {
        operator_id: operator_id ?? caller.operatorId,
        // The current role's scopes replace absent ones, so that the second person can read them.
        scopes:
          body.scopes ?? (caller.role !== null && isRole(caller.role) ? ROLE_SCOPES[caller.role] : null),
      }),
    });
  }
}

type Recorded = Omit<NewCredentialBody, 'expires_at'> & { readonly expires_at?: string | null };

export function toSubject({ kind, merchant_id, operator_id, api_key }: AdminCredential): CredentialSubject {
  return { kind, merchant_id, operator_id, api_key };
}

/** The members that only some kinds have. */
const MEMBERS = new Set<string>(Object.values(KIND_RULES).flatMap(({ members }) => [...members]));

function requireMembers(body: NewCredentialBody): void {
  const given = body as unknown as Readonly<Record<string, unknown>>;
  const { members, owner } = KIND_RULES[body.kind] as { members: readonly string[]; owner: string };
  for (const name of MEMBERS)
    if (given[name] !== undefined && given[name] !== null && !members.includes(name))
      throw DomainError.invalid({ [name]: [`is not for credentials of kind ${body.kind}`] });
  if (owner === 'merchant' && !body.merchant_id) throw DomainError.invalid({ merchant_id: ['is required'] });
}
