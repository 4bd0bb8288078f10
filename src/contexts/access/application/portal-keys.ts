import { Inject, Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { CredentialList, credentialStatus, type CredentialFilter } from '../views/credential-list.js';
import type { CredentialRow } from '../views/credential-rows.js';
import { DIRECTORY_VIEW } from '../views/directory-projection.js';
import { IssueSecret, RevokeSecret } from './secret-commands.js';
import { RevokeExchangeSecret } from './exchange-key-commands.js';

interface NewKey {
  readonly id: string;
  readonly name: string | null;
  /** ISO 8601. */
  readonly expiresAt: string | null;
}

/** Keys of one merchant, as its own people see and change them. */
@Injectable()
export class PortalKeys {
  constructor(
    private readonly list: CredentialList,
    private readonly commandBus: CommandBus,
    private readonly progress: SubscriptionProgress,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  page(merchantId: string, filter: CredentialFilter) {
    return this.list.page([merchantId], filter);
  }

  /** Throws `not_found`. */
  async find(merchantId: string, id: string): Promise<CredentialRow> {
    await this.progress.requireCurrent(DIRECTORY_VIEW);
    const row = await this.list.find(id);
    if (row?.holder.merchantId !== merchantId) throw DomainError.notFound('Key');
    return row;
  }

  /** A private key of kind `payouts`: the same again for the same id, for a day. Throws `invalid_transition` beyond two. */
  async issue(merchantId: string, { id, name, expiresAt }: NewKey, cause: EventMetadata): Promise<string> {
    const command = new IssueSecret('api_key', merchantId, { secretId: id, name, expiresAt }, cause);
    const { secret } = await this.commandBus.execute(command);
    return secret;
  }

  /** Throws `not_found`, or `invalid_transition`. */
  async revoke(merchantId: string, secretId: string, cause: EventMetadata): Promise<CredentialRow> {
    const row = await this.find(merchantId, secretId);
    if (credentialStatus(row, this.clock.now()) === 'revoked') return row;
    await this.commandBus.execute(
      row.holder.kind === 'exchange_key'
        ? new RevokeExchangeSecret(row.holder.id, secretId, cause)
        : new RevokeSecret('api_key', merchantId, secretId, cause),
    );
    return this.find(merchantId, secretId);
  }
}
