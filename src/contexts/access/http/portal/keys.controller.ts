import { Get, HttpCode, Inject, Post } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../../kernel/clock.js';
import { Field } from '../../../../platform/dto/field.js';
import { instant, oneOf } from '../../../../platform/dto/rules.js';
import type { EventMetadata } from '../../../../platform/event-store/port.js';
import { WriteTicket } from '../../../../platform/http/admin/admin-controller.js';
import { PortalController, PortalScopes } from '../../../../platform/http/admin/portal-controller.js';
import {
  Cause,
  ListQuery,
  MerchantId,
  OptionalBody,
  UuidParam,
} from '../../../../platform/http/decorators.js';
import { Filter, ListParameters } from '../../../../platform/http/list-query.js';
import type { RequestTicket } from '../../../../platform/idempotency/ticket.js';
import { PortalKeys } from '../../application/portal-keys.js';
import { CREDENTIAL_STATUSES, type CredentialStatus } from '../../views/credentials.js';
import { credentialJson } from '../admin/credential-dto.js';
import { label } from '../admin/rules.js';
import { CREDENTIAL_KINDS, KIND_RULES, type CredentialKind } from '../../domain/credential-kinds.js';
import { SECRET_DISPLAYED_MS } from '../../domain/credentials.js';

const KINDS = CREDENTIAL_KINDS.filter((kind) => KIND_RULES[kind].owner === 'merchant');

class PortalKeysQuery extends ListParameters {
  @Filter(oneOf(KINDS), 'Only those of this kind.') kind?: CredentialKind;
  @Filter(oneOf(CREDENTIAL_STATUSES), 'Only those of this status.') status?: CredentialStatus;
}

class NewPortalKey {
  @Field(label, { optional: true, nullable: true }) name?: string | null;
  @Field(instant, { optional: true, nullable: true }) expires_at?: Date | null;
}

/** Keys of the merchant, in the shape of the admin API (admin-api.md 3 and 6). */
@PortalController('keys')
export class PortalKeysController {
  constructor(
    private readonly keys: PortalKeys,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @PortalScopes('keys:read')
  async list(@MerchantId() merchantId: string, @ListQuery() query: PortalKeysQuery) {
    const { rows, next_cursor } = await this.keys.page(merchantId, query);
    const now = this.clock.now();
    return { credentials: rows.map((row) => credentialJson(row, now)), next_cursor };
  }

  /** Of kind `payouts`; `secret` is in this response alone, which a repeat gets too, for a day. */
  @Post()
  @HttpCode(201)
  @PortalScopes('keys:write')
  async issue(
    @MerchantId() merchantId: string,
    @WriteTicket() ticket: RequestTicket,
    @Cause() cause: EventMetadata,
    @OptionalBody() { name = null, expires_at = null }: NewPortalKey,
  ) {
    ticket.storeSealed({ secretForMs: SECRET_DISPLAYED_MS });
    const id = ticket.id('credential');
    const key = { id, name, expires_at: expires_at?.toISOString() ?? null };
    const { secret } = await this.keys.issue(merchantId, key, cause);
    const row = await this.keys.find(merchantId, id);
    return { credential: { ...credentialJson(row, this.clock.now()), secret } };
  }

  @Post(':id/revoke')
  @HttpCode(200)
  @PortalScopes('keys:write')
  async revoke(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'Key') id: string,
    @Cause() cause: EventMetadata,
  ) {
    return { credential: credentialJson(await this.keys.revoke(merchantId, id, cause), this.clock.now()) };
  }
}
