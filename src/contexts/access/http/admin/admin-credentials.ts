import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../../kernel/clock.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import type { AdminCaller } from '../../../../platform/http/admin/admin-controller.js';
import { requireReach, requireScopes } from '../../../../platform/operations/scopes.js';
import { SubscriptionProgress } from '../../../../platform/projections/subscription-progress.js';
import { exchangeKeyIdOf, type CredentialHolder } from '../../application/credential-commands.js';
import { isRole, ROLE_SCOPES, type Role } from '../../domain/roles.js';
import { CredentialSecrets } from '../../application/credential-secrets.js';
import { CredentialList } from '../../views/credential-list.js';
import { DIRECTORY_VIEW } from '../../views/directory-projection.js';
import { MerchantList } from '../../views/merchant-list.js';
import {
  credentialJson,
  type AdminCredential,
  type CredentialsQuery,
  type CredentialsResponse,
  type NewCredentialBody,
} from './credential-dto.js';

const CREDENTIAL = 'Credential';

/** Credentials as the admin API responds with them, up to date, and what may be requested of them. */
@Injectable()
export class AdminCredentials {
  constructor(
    private readonly credentials: CredentialList,
    private readonly merchants: MerchantList,
    private readonly secrets: CredentialSecrets,
    private readonly progress: SubscriptionProgress,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** `merchants`: only those of these merchants; null: all. */
  async page(query: CredentialsQuery, merchants: readonly string[] | null): Promise<CredentialsResponse> {
    const { rows, next_cursor } = await this.credentials.page(merchants, query);
    const now = this.clock.now();
    return { credentials: rows.map((row) => credentialJson(row, now)), next_cursor };
  }

  /** Throws `not_found`, also for one that is not the caller's own and of no merchant whom the caller is confined to. */
  async find(id: string, caller: Pick<AdminCaller, 'merchants' | 'operatorId'>): Promise<AdminCredential> {
    await this.progress.requireCurrent(DIRECTORY_VIEW);
    const row = await this.credentials.find(id);
    if (row === null) throw DomainError.notFound(CREDENTIAL);
    const { merchantId, operatorId } = row.holder;
    if (operatorId !== caller.operatorId) requireReach(caller, merchantId, CREDENTIAL);
    return credentialJson(row, this.clock.now());
  }

  /** The credential of a secret of any kind; null where there is none within the caller's reach. */
  async findBySecret(
    secret: string,
    caller: Pick<AdminCaller, 'merchants' | 'operatorId'>,
  ): Promise<AdminCredential | null> {
    await this.progress.requireCurrent(DIRECTORY_VIEW);
    const row = await this.credentials.findBySecret(this.secrets.hashOf(secret));
    if (row === null) return null;
    return this.find(row.id, caller).catch((error: unknown) => {
      if (error instanceof DomainError && error.code === 'not_found') return null;
      throw error;
    });
  }

  /**
   * The parameters of `credentials.issue`. Throws `validation_failed` for members that are missing or of another kind,
   * `forbidden` without the scope that the kind needs, `not_found` for merchants whom the caller is not confined to.
   */
  async order(id: string, body: NewCredentialBody, caller: AdminCaller) {
    const { kind, name, merchant_id = null, operator_id = null, merchants = null } = body;
    requireMembers(body);
    // First, so that a key without it does not learn which merchants exist.
    if (kind !== 'admin') requireScopes(caller, ['credentials:write']);
    const named = [...(merchants ?? []), ...(merchant_id ? [merchant_id] : [])];
    // First, so that a confined key does not learn which others exist.
    for (const id of named) requireReach(caller, id, 'Merchant');
    const unknown = await this.merchants.unknown(named);
    if (unknown.length > 0) {
      const field = kind === 'admin' ? 'merchants' : 'merchant_id';
      throw DomainError.invalid({ [field]: ['must name merchants that exist'] }).asTransient();
    }
    return {
      kind,
      name,
      merchant_id,
      api_key: kind === 'exchange' ? exchangeKeyIdOf(id) : null,
      operator_id: kind === 'admin' ? (operator_id ?? caller.operatorId) : null,
      // Absent: those of the role now. The second person reads them.
      scopes:
        body.scopes ??
        (kind === 'admin' && isRole(caller.role ?? '') ? ROLE_SCOPES[caller.role as Role] : null),
      merchants,
      addresses: body.addresses ?? [],
      withdraw_addresses: body.withdraw_addresses ?? [],
      demands_signing: body.demands_signing ?? true,
      memo_signing: body.memo_signing ?? 'contract',
      expires_at: body.expires_at?.toISOString() ?? null,
    };
  }
}

/** The parameters that say what a credential is a part of. */
export function holderOf({ kind, merchant_id, api_key }: AdminCredential): CredentialHolder {
  return { kind, merchant_id, api_key };
}

/** Members that only some kinds have. */
const MEMBERS_OF: Readonly<Record<string, readonly NewCredentialBody['kind'][]>> = {
  merchant_id: ['payouts', 'exchange'],
  operator_id: ['admin'],
  scopes: ['admin'],
  merchants: ['admin'],
  addresses: ['exchange', 'admin'],
  withdraw_addresses: ['exchange'],
  demands_signing: ['exchange'],
  memo_signing: ['exchange'],
};

function requireMembers(body: NewCredentialBody): void {
  const given = body as unknown as Readonly<Record<string, unknown>>;
  for (const [name, kinds] of Object.entries(MEMBERS_OF)) {
    const isEmpty = given[name] === undefined || given[name] === null;
    if (!isEmpty && !kinds.includes(body.kind))
      throw DomainError.invalid({ [name]: [`is not for credentials of kind ${body.kind}`] });
  }
  if (body.kind !== 'admin' && !body.merchant_id) throw DomainError.invalid({ merchant_id: ['is required'] });
}
