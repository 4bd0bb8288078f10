import { Get, HttpCode, Post } from '@nestjs/common';
import { Caller } from '../../../platform/http/admin/admin.guard.js';
import {
  PortalController,
  PortalScopes,
  type PortalCaller,
} from '../../../platform/http/admin/portal.guard.js';
import { RateLimitGuard, WINDOW_SECONDS } from '../../../platform/http/rate-limit.guard.js';
import {
  MerchantOfRequest,
  Cause,
  MerchantId,
  OptionalBody,
  Ticket,
  UuidParam,
} from '../../../platform/http/decorators.js';
import type { ApiCaller } from '../../../platform/http/merchant-directory.js';
import { RequestTable } from '../requests/request-table.store.js';
import { MerchantList } from '../merchants/directory.view.js';
import { PORTAL_SCOPES } from './portal-session.js';
import { CommandBus } from '@nestjs/cqrs';
import { Field } from '../../../platform/dto/field.js';
import { instant } from '../../../platform/dto/rules.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { IssueCredential, plainOrder, RevokeCredential } from '../credentials/credentials.commands.js';
import type { AdminCredential } from '../credentials/credentials.view.js';
import { AdminCredentials } from '../credentials/credentials.dto.js';
import { label } from '../merchants/rules.dto.js';
import { SECRET_DISPLAYED_MS } from '../credentials/credentials.js';

const KEY = 'Key';

class NewPortalKey {
  @Field(label, { optional: true, nullable: true }) name?: string | null;
  @Field(instant, { optional: true, nullable: true }) expires_at?: Date | null;
}

/** The session, the use of the rate limit, and writes of keys, which need no reason from a merchant (admin-api.md 6). */
@PortalController()
export class PortalMerchantController {
  constructor(
    private readonly merchants: MerchantList,
    private readonly limits: RateLimitGuard,
    private readonly requests: RequestTable,
    private readonly credentials: AdminCredentials,
    private readonly commandBus: CommandBus,
  ) {}

  @Get('me')
  @PortalScopes()
  async me(@Caller() caller: PortalCaller) {
    const { id, name, status } = await this.merchants.find(caller.merchantId);
    return {
      merchant: { id, name, status },
      actor: caller.actor,
      scopes: PORTAL_SCOPES.filter((each) => caller.scopes.has(each)),
      session_expires_at: caller.expiresAt,
      return_url: caller.returnUrl,
    };
  }

  @Get('usage')
  @PortalScopes('usage:read')
  async usage(@MerchantOfRequest() merchant: ApiCaller) {
    const { limit, used: leased, resetsAt } = await this.limits.usage(merchant);
    // Processes lease more than they use. The first request arrives a little before the window begins.
    const from = (resetsAt ?? 0) - (WINDOW_SECONDS + 1) * 1000;
    const used = await this.requests.since(merchant.merchantId, from, leased);
    const resets_at = resetsAt === null ? null : new Date(resetsAt).toISOString();
    return { limit, used, resets_at, days: await this.requests.days(merchant.merchantId) };
  }

  /** Issues a key of kind `payouts`. Only this response has the `secret`, for a day also in a repeat. */
  @Post('keys')
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

  @Post('keys/:id/revoke')
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
