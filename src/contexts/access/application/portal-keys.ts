import { Inject, Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { CredentialList, credentialStatus, type CredentialFilter, type CredentialRow } from '../views/credentials.js';
import { DIRECTORY_VIEW } from '../views/directory-projection.js';
import { IssueCredential, plainOrder, RevokeCredential } from './credential-commands.js';

interface NewKey {
  readonly id: string;
  readonly name: string | null;
  /** ISO 8601. */
  readonly expires_at: string | null;
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

  async page(merchantId: string, filter: CredentialFilter) {
    await this.progress.requireCurrent(DIRECTORY_VIEW);
    return this.list.page([merchantId], filter);
  }

  /** Throws `not_found`. */
  async find(merchantId: string, id: string): Promise<CredentialRow> {
    await this.progress.requireCurrent(DIRECTORY_VIEW);
    const row = await this.list.find(id);
    if (row?.merchant_id !== merchantId) throw DomainError.notFound('Key');
    return row;
  }

  /** A private key of kind `payouts`: the same again for the same id, for a day. Throws `invalid_transition` beyond two. */
  async issue(merchant_id: string, { id, name, expires_at }: NewKey, cause: EventMetadata) {
    const order = plainOrder({ kind: 'payouts', merchant_id, name: name ?? '', expires_at });
    return this.commandBus.execute(Object.assign(new IssueCredential(id, order), { cause }));
  }

  /** Throws `not_found`, or `invalid_transition`. */
  async revoke(merchant_id: string, id: string, cause: EventMetadata): Promise<CredentialRow> {
    const row = await this.find(merchant_id, id);
    if (credentialStatus(row, this.clock.now()) === 'revoked') return row;
    const command = new RevokeCredential(id, { merchant_id, operator_id: null });
    await this.commandBus.execute(Object.assign(command, { cause }));
    return this.find(merchant_id, id);
  }
}
