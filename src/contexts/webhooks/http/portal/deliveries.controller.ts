import { Get, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { DomainError } from '../../../../kernel/domain-error.js';
import { PortalController, PortalScopes } from '../../../../platform/http/admin/portal-controller.js';
import { ListQuery, MerchantId, UuidParam } from '../../../../platform/http/decorators.js';
import { Reply } from '../../../../platform/http/reply.js';
import { UpToDate } from '../../../../platform/http/reads.js';
import type { MerchantCaller } from '../../application/caller.js';
import { DELIVERIES_SAGA } from '../../application/deliveries-saga.js';
import { ResendWebhookDelivery } from '../../application/delivery-commands.js';
import { DeliveriesView, type DeliveriesPage } from '../../views/deliveries.js';
import { CallingMerchant } from '../webhook-endpoints.controller.js';
import { DeliveriesQuery } from '../admin/webhook-dto.js';
import { WriteResponses } from '../write-responses.js';

const WHAT = 'Webhook delivery';

/** Deliveries to all endpoints of the merchant, for its people (admin-api.md 6). */
@PortalController('deliveries')
export class PortalDeliveriesController {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly deliveries: DeliveriesView,
    private readonly written: WriteResponses,
  ) {}

  @Get()
  @PortalScopes('deliveries:read')
  @UpToDate(DELIVERIES_SAGA)
  list(@MerchantId() merchantId: string, @ListQuery() query: DeliveriesQuery): Promise<DeliveriesPage> {
    return this.deliveries.list([merchantId], query);
  }

  @Get(':id')
  @PortalScopes('deliveries:read')
  @UpToDate(DELIVERIES_SAGA)
  async get(@MerchantId() merchantId: string, @UuidParam('id', WHAT) id: string): Promise<Reply> {
    const delivery = await this.deliveries.detail(merchantId, id);
    if (delivery === null) throw DomainError.notFound(WHAT);
    return new Reply(200, `{"delivery":${delivery.text}}`);
  }

  @Post(':id/resend')
  @PortalScopes('deliveries:write')
  async resend(@CallingMerchant() caller: MerchantCaller, @UuidParam('id', WHAT) id: string): Promise<Reply> {
    return this.written.reply(202, await this.commandBus.execute(new ResendWebhookDelivery(caller, id)));
  }
}
