import { Controller, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { Cause, MerchantId, Ticket, UuidParam } from '../../../platform/http/decorators.js';
import { Reply } from '../../../platform/http/reply.js';
import type { RequestTicket } from '../../../platform/idempotency/ticket.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { FailSandboxOrder } from '../application/fail-sandbox-order.js';
import { orderResponse } from '../domain/order-record.js';
import { OrderResponse } from './order-dto.js';

/** Fails an order of the sandbox's provider. Sandbox only. */
@Controller('merchants/v1/sandbox/orders')
export class SandboxOrdersController {
  constructor(private readonly commandBus: CommandBus) {}

  @Post(':id/fail')
  @ApiRoute({
    id: 'failSandboxOrder',
    tag: 'Sandbox',
    summary: 'Fail an order',
    description:
      'An order of any key of the merchant fails, as if its provider could not exchange it: what was received is refundable. Signed as all calls of the merchant API. Only in the sandbox.',
    responses: {
      200: [OrderResponse, 'The order has failed.'],
      404: 'The merchant has no such order.',
      409: 'The order is processing, has ended otherwise, or is at another provider.',
    },
  })
  async fail(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'Order') id: string,
    @Ticket() ticket: Pick<RequestTicket, 'storeSealed'>,
    @Cause() cause: EventMetadata,
  ): Promise<Reply> {
    ticket.storeSealed();
    const failed = await this.commandBus.execute(new FailSandboxOrder(merchantId, id, cause));
    return new Reply(200, orderResponse(failed, null));
  }
}
