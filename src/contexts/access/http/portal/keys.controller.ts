import { HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Field } from '../../../../platform/dto/field.js';
import { instant } from '../../../../platform/dto/rules.js';
import type { EventMetadata } from '../../../../platform/event-store/port.js';
import { PortalController, PortalScopes } from '../../../../platform/http/admin/portal-controller.js';
import { Cause, MerchantId, OptionalBody, Ticket, UuidParam } from '../../../../platform/http/decorators.js';
import type { IdempotencyTicket } from '../../../../platform/idempotency/ticket.js';
import { IssueCredential, plainOrder, RevokeCredential } from '../../application/credential-commands.js';
import type { AdminCredential } from '../../views/credentials.js';
import { AdminCredentials } from '../admin/admin-credentials.js';
import { label } from '../admin/rules.js';
import { SECRET_DISPLAYED_MS } from '../../domain/credentials.js';

const KEY = 'Key';

class NewPortalKey {
  @Field(label, { optional: true, nullable: true }) name?: string | null;
  @Field(instant, { optional: true, nullable: true }) expires_at?: Date | null;
}

/** Writes of keys of the merchant (admin-api.md 6). Operators issue and revoke with a reason, a merchant's people without. */
@PortalController('keys')
export class PortalKeysController {
  constructor(
    private readonly credentials: AdminCredentials,
    private readonly commandBus: CommandBus,
  ) {}

  /** Of kind `payouts`; `secret` is in this response alone, which a repeat gets too, for a day. */
  @Post()
  @HttpCode(201)
  @PortalScopes('keys:write')
  async issue(
    @MerchantId() merchant_id: string,
    @Ticket() ticket: IdempotencyTicket,
    @Cause() cause: EventMetadata,
    @OptionalBody() { name, expires_at }: NewPortalKey,
  ) {
    ticket.hideSecretAfter(SECRET_DISPLAYED_MS);
    const id = ticket.id('credential');
    const terms = { name: name ?? '', expires_at: expires_at?.toISOString() ?? null };
    const command = new IssueCredential(id, plainOrder({ kind: 'payouts', merchant_id, ...terms }));
    const { secret } = await this.commandBus.execute(Object.assign(command, { cause }));
    return { credential: { ...(await this.find(id, merchant_id)), secret } };
  }

  @Post(':id/revoke')
  @HttpCode(200)
  @PortalScopes('keys:write')
  async revoke(
    @MerchantId() merchant_id: string,
    @UuidParam('id', KEY) id: string,
    @Cause() cause: EventMetadata,
  ) {
    const credential = await this.find(id, merchant_id);
    if (credential.status === 'revoked') return { credential };
    const command = new RevokeCredential(id, { merchant_id, operator_id: null });
    await this.commandBus.execute(Object.assign(command, { cause }));
    return { credential: await this.find(id, merchant_id) };
  }

  private find(id: string, merchantId: string): Promise<AdminCredential> {
    const reach = { merchants: [merchantId], operatorId: null };
    return this.credentials.find(id, reach, KEY);
  }
}
