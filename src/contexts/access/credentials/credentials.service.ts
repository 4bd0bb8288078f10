import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import type { Requester } from '../../../platform/operations/operations.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { DIRECTORY_VIEW } from '../merchants/directory.view.js';
import { CredentialSecrets } from './credential-secrets.service.js';
import { CredentialIndex, type AdminCredential } from './credentials.view.js';

type Reach = Pick<Requester, 'merchants' | 'operatorId'>;

/** Checks for the caller's own credential, or that of a merchant within the caller's reach. */
function isReached({ merchants, operatorId }: Reach, row: AdminCredential): boolean {
  if (merchants === null || (row.operator_id !== null && row.operator_id === operatorId)) return true;
  return row.merchant_id !== null && merchants.includes(row.merchant_id);
}

/** Reads up-to-date credentials for the admin API and the portal. */
@Injectable()
export class AdminCredentials {
  constructor(
    private readonly index: CredentialIndex,
    private readonly secrets: CredentialSecrets,
    private readonly progress: SubscriptionProgress,
  ) {}

  /** Finds a credential. Throws `not_found` unless it is the caller's own or within the caller's reach. */
  async find(id: string, caller: Reach, title = 'Credential'): Promise<AdminCredential> {
    await this.progress.requireCurrent(DIRECTORY_VIEW);
    const row = await this.index.find(id);
    if (row === null || !isReached(caller, row)) throw DomainError.notFound(title);
    return row;
  }

  /**
   * Finds a credential for display. Throws `not_found` also for an own credential with access to merchants outside the
   * caller's reach.
   */
  async read(id: string, caller: Reach): Promise<AdminCredential> {
    const row = await this.find(id, caller);
    const { merchants } = caller;
    const isWithin =
      merchants === null ||
      row.merchant_id !== null ||
      row.merchants?.every((each) => merchants.includes(each));
    if (isWithin !== true) throw DomainError.notFound('Credential');
    return row;
  }

  /** Returns null for a credential that is neither the caller's own nor within the caller's reach. */
  async findBySecret(secret: string, caller: Reach): Promise<AdminCredential | null> {
    await this.progress.requireCurrent(DIRECTORY_VIEW);
    const row = await this.index.findBySecret(this.secrets.toHash(secret));
    return row !== null && isReached(caller, row) ? row : null;
  }
}
